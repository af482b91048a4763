-- The job whose requirements a job looks among, and how many it has: its own, or for a validator ($2) those of the job that
-- it judges, where it judges one.
SELECT scope AS "job_id!",
       (SELECT count(*) FROM requirement_cache r WHERE r.job_id = scope AND r.status <> 'withdrawn') AS "n!"
FROM (
    SELECT CASE WHEN $2 THEN coalesce(judged_job(j), j.id) ELSE j.id END AS scope FROM jobs j WHERE j.id = $1
) AS looked_at
