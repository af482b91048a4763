SELECT current_setting('server_version') AS "server_version!",
       current_setting('server_version_num')::int AS "server_version_num!",
       clock_timestamp() AS "server_time!",
       current_setting('transaction_read_only')::bool AS "read_only!"
