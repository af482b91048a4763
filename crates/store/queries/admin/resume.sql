SELECT resume_job($1, $2, $3) AS "status!"
