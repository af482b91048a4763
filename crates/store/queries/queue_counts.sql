-- job_types null: all. Workers count whatever they run.
SELECT (SELECT count(*) FROM runnable_jobs WHERE $1::text[] IS NULL OR job_type = ANY ($1)) AS "runnable!",
       (SELECT count(*) FROM jobs
        WHERE status = 'pending' AND run_at > now() AND ($1::text[] IS NULL OR job_type = ANY ($1))) AS "later!",
       (SELECT count(*) FROM jobs
        WHERE status = 'running' AND ($1::text[] IS NULL OR job_type = ANY ($1))) AS "running!",
       (SELECT count(*) FROM workers WHERE heartbeat_at > now() - interval '1 minute') AS "live_workers!",
       (SELECT coalesce(extract(epoch FROM now() - min(run_at)), 0)::bigint FROM runnable_jobs
        WHERE $1::text[] IS NULL OR job_type = ANY ($1)) AS "oldest_wait_secs!"
