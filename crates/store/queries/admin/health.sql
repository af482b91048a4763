SELECT current_setting('server_version') AS "server_version!",
       current_setting('server_version_num')::int AS "server_version_num!",
       clock_timestamp() AS "server_time!",
       pg_is_in_recovery() AS "read_only!"
