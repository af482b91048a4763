-- Gives a validator job up to $3 requirements: those it holds already, then the oldest pending ones, locked ones
-- skipped. Only the job's present worker gets any, and the job's row stays locked until they are its own, so that a job
-- which ends meanwhile leaves none behind. $4: whether rows that were accepted before, for want of a graph, count as
-- pending. $5: rows judged in this turn, whose judgement the turn's commit will write. Gives how many they are; what they
-- say is for held_requirements.sql.
--
-- The rows of one job and those of all jobs are read apart: of either there may be millions, and each way has its index.
WITH me AS MATERIALIZED (
    SELECT j.id, judged_job(j) AS scope
    FROM jobs j
    WHERE j.id = $1 AND j.lease_epoch = $2 AND j.status = 'running'
    FOR SHARE
), held AS MATERIALIZED (
    SELECT FROM requirement_cache r
    WHERE r.validator_job_id = (SELECT id FROM me) AND r.status = 'validating' AND r.id <> ALL ($5::uuid[])
    LIMIT $3
), room AS MATERIALIZED (
    SELECT $3 - count(*) AS n FROM held
), of_one_job AS MATERIALIZED (
    SELECT r.ctid AS spot
    FROM requirement_cache r
    -- Not "=": where the planner knows of no waiting rows, the plan would be to look through those of all jobs.
    WHERE r.job_id = (SELECT scope FROM me) AND r.status IS NOT DISTINCT FROM 'pending'
      AND ($4 OR r.validation_result IS NULL)
    ORDER BY r.created_at, r.id
    LIMIT (SELECT n FROM room)
    FOR UPDATE OF r SKIP LOCKED
), of_all_jobs AS MATERIALIZED (
    SELECT r.ctid AS spot
    FROM requirement_cache r
    WHERE (SELECT scope IS NULL FROM me) AND r.status = 'pending' AND ($4 OR r.validation_result IS NULL)
    ORDER BY r.created_at, r.id
    LIMIT (SELECT n FROM room)
    FOR UPDATE OF r SKIP LOCKED
), fresh AS (
    SELECT * FROM of_one_job UNION ALL SELECT * FROM of_all_jobs
), claimed AS (
    UPDATE requirement_cache r
    SET status = 'validating', validator_job_id = $1
    FROM fresh
    -- By its place: how many there will be the planner cannot know, and by their key it may read the whole table for them.
    WHERE r.ctid = fresh.spot
    RETURNING 1
)
SELECT (SELECT count(*) FROM held) + (SELECT count(*) FROM claimed) AS "n!"
