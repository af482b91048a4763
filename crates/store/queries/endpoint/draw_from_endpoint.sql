SELECT requests_per_minute, tokens_per_minute, parallel,
       requests_position AS "requests_position!", requests_released AS "requests_released!",
       requests_given AS "requests_given!",
       tokens_position AS "tokens_position!", tokens_released AS "tokens_released!", tokens_given AS "tokens_given!",
       refilled_in_s AS "refilled_in_s!", slots, contested
FROM draw_from_endpoint($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
