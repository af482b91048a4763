-- Calls that wait for a decision, by age. Reads only the index of waiting calls.
SELECT count(*) FILTER (WHERE requested_at > now() - interval '1 hour') AS "under_1h!",
       count(*) FILTER (WHERE requested_at <= now() - interval '1 hour' AND requested_at > now() - interval '1 day') AS "under_1d!",
       count(*) FILTER (WHERE requested_at <= now() - interval '1 day') AS "older!"
FROM approvals
WHERE state = 'pending'
