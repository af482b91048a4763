-- Claims up to $3 requirements for a validator job: those it holds already, then the oldest pending ones; locked rows
-- are skipped. Only the job's current worker gets any, and the job's row stays locked until the claim is done, so that
-- a job that ends meanwhile leaves none behind. $4: whether rows that were accepted earlier, without a graph, count as
-- pending. $5: rows judged in this turn, whose judgement the turn's commit writes. Returns the number of rows;
-- held_requirements.sql reads them.
--
-- The rows of one job and those of all jobs are read separately: either may have millions, and each has its own index.
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
    -- Not "=": if the statistics have no waiting rows, the planner would scan those of all jobs.
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
    -- By ctid: the planner cannot know how many there are, and by key it may read the whole table.
    WHERE r.ctid = fresh.spot
    RETURNING 1
)
SELECT (SELECT count(*) FROM held) + (SELECT count(*) FROM claimed) AS "n!"
