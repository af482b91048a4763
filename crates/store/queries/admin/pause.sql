SELECT pause_job($1) AS "status!"
