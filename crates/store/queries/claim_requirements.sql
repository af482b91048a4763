-- Gives a validator job up to $3 requirements: those it holds already, then the oldest pending ones, locked ones
-- skipped. Only the job's present worker gets any, and the job's row stays locked until they are its own, so that a job
-- which ends meanwhile leaves none behind. $4: whether rows that were accepted before, for want of a graph, count as
-- pending. $5: rows judged in this turn, whose judgement the turn's commit will write. Gives how many they are; what they
-- say is for held_requirements.sql.
WITH me AS MATERIALIZED (
    SELECT j.id, validation_scope(j) AS scope
    FROM jobs j
    WHERE j.id = $1 AND j.lease_epoch = $2 AND j.status = 'running'
    FOR SHARE
), held AS MATERIALIZED (
    SELECT r.job_id, r.id
    FROM requirement_cache r
    JOIN me ON r.validator_job_id = me.id
    WHERE r.status = 'validating' AND r.id <> ALL ($5::uuid[])
    ORDER BY r.created_at, r.id
    LIMIT $3
), fresh AS MATERIALIZED (
    SELECT r.job_id, r.id
    FROM requirement_cache r
    CROSS JOIN me
    WHERE r.status = 'pending'
      AND (me.scope IS NULL OR r.job_id = me.scope)
      AND ($4 OR r.validation_result IS NULL)
    ORDER BY r.created_at, r.id
    LIMIT $3 - (SELECT count(*) FROM held)
    FOR UPDATE OF r SKIP LOCKED
), claimed AS (
    UPDATE requirement_cache r
    SET status = 'validating', validator_job_id = $1
    FROM fresh
    WHERE r.job_id = fresh.job_id AND r.id = fresh.id
    RETURNING 1
)
SELECT (SELECT count(*) FROM held) + (SELECT count(*) FROM claimed) AS "n!"
