SELECT grant_calls($1, $2, $3) AS "status!"
