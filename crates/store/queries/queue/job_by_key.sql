SELECT job_of_key($1, $2) AS id
