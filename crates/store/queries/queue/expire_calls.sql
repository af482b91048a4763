-- Of how many jobs calls have expired.
SELECT expire_calls($1) AS "jobs!"
