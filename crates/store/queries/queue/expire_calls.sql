-- Expires calls; returns the number of their jobs.
SELECT expire_calls($1) AS "jobs!"
