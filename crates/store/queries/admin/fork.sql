SELECT fork_job($1, $2) AS "id!"
