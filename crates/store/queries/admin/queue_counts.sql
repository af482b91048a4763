-- job_types null: all types. A worker counts all jobs that it runs.
-- A job of a type or key with a limit of 0 cannot run now. If neither types nor such a limit matter, the queue's index
-- alone gives the number of runnable jobs. Scheduled jobs count once they are due.
WITH due AS MATERIALIZED (
    SELECT job_type, concurrency_key, run_at FROM jobs WHERE status = 'pending' AND scheduled AND run_at <= now()
), waiting AS NOT MATERIALIZED (
    SELECT job_type, concurrency_key, run_at FROM jobs WHERE status = 'pending' AND NOT scheduled AND run_at <= now()
    UNION ALL SELECT job_type, concurrency_key, run_at FROM due
)
SELECT (SELECT count(*) FROM waiting
        WHERE $1::text[] IS NULL AND NOT EXISTS (SELECT FROM concurrency_limits WHERE max_running = 0))
       + (SELECT count(*) FROM waiting r
        WHERE ($1::text[] IS NOT NULL OR EXISTS (SELECT FROM concurrency_limits WHERE max_running = 0))
          AND ($1::text[] IS NULL OR r.job_type = ANY ($1))
          AND (NOT EXISTS (SELECT FROM concurrency_limits WHERE max_running = 0)
               OR 0 < ALL (
                   SELECT l.max_running FROM concurrency_limits l
                   WHERE l.job_type = r.job_type
                     AND (l.key IN ('', r.concurrency_key) OR (l.key = '*' AND r.concurrency_key <> '' AND NOT EXISTS (
                             SELECT FROM concurrency_limits own
                             WHERE own.job_type = r.job_type AND own.key = r.concurrency_key)))))) AS "runnable!",
       (SELECT count(*) FROM jobs
        WHERE status = 'pending' AND scheduled AND run_at > now() AND ($1::text[] IS NULL OR job_type = ANY ($1))) AS "later!",
       (SELECT count(*) FROM jobs
        WHERE status = 'running' AND ($1::text[] IS NULL OR job_type = ANY ($1))) AS "running!",
       (SELECT count(*) FROM workers WHERE heartbeat_at > now() - interval '1 minute') AS "live_workers!",
       (SELECT coalesce(extract(epoch FROM now() - min(run_at) FILTER (WHERE isfinite(run_at))), 0)::bigint
        FROM waiting
        WHERE $1::text[] IS NULL OR job_type = ANY ($1)) AS "oldest_wait_secs!"
