SELECT approve_job($1) AS "status!"
