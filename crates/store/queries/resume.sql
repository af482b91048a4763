SELECT resume_job($1, $2) AS "status!"
