-- Numbers the requirements that a job recorded before requirements had numbers and tags, in the order of recording;
-- returns the highest number. The same statement notes in the job's checkpoints that these rows were never compared with
-- their quotes: after it nothing else tells, whether the claim commits a step or its worker is killed, and a fork of an
-- earlier step has them too. Only for the holder of the lease.
WITH job AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = $1 AND lease_epoch = $2 AND status = 'running' FOR UPDATE
), numbered AS (
    UPDATE requirement_cache r
    SET number = n.number
    FROM job, (
        SELECT q.id, (SELECT coalesce(max(k.number), 0) FROM requirement_cache k WHERE k.job_id = $1)
                     + row_number() OVER (ORDER BY q.created_at, q.id) AS number
        FROM requirement_cache q
        WHERE q.job_id = $1 AND q.number IS NULL AND q.step IS NOT NULL
    ) AS n
    WHERE r.id = n.id
    RETURNING r.number
), noted AS (
    UPDATE checkpoints c
    SET state = c.state || '{"compares_anew": true}'
    FROM job
    WHERE c.job_id = job.id AND c.state IS NOT NULL
)
SELECT coalesce(max(number), 0) AS "last_number!" FROM numbered
