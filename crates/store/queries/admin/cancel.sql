SELECT cancel_job($1) AS "status!"
