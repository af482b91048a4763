SELECT retry_job($1) AS "status!"
