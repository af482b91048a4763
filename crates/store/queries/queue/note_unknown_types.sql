-- Takes down which types of waiting jobs no worker with a heartbeat of the last $1 seconds knows, and says so in up to $2 of
-- their jobs; takes it back where one knows them again, or nobody waits any more. Both are looked up by type, so that a queue
-- of known types costs nothing. Says whether a type has been unknown for $3 seconds.
WITH known AS MATERIALIZED (
    SELECT DISTINCT unnest(job_types) AS job_type FROM workers WHERE heartbeat_at > now() - make_interval(secs => $1)
), unknown AS MATERIALIZED (
    SELECT s.job_type FROM job_shelves s
    WHERE s.status = 'pending' AND NOT EXISTS (SELECT FROM known k WHERE k.job_type = s.job_type)
), noted AS (
    INSERT INTO unknown_job_types AS u (job_type)
    SELECT job_type FROM unknown
    ON CONFLICT (job_type) DO UPDATE SET since = now() WHERE u.since = 'infinity'
), told AS (
    UPDATE jobs
    SET status_reason = format('no live worker knows the job type `%s`; it waits for one that does', left(job_type, 200))
    WHERE ctid = ANY (ARRAY(
        SELECT j.ctid
        FROM unknown u
        JOIN jobs j ON j.job_type = u.job_type AND j.status = 'pending' AND j.attempt >= 0
        WHERE j.run_at <= now() AND j.status_reason IS DISTINCT FROM
              format('no live worker knows the job type `%s`; it waits for one that does', left(j.job_type, 200))
        LIMIT $2
        FOR UPDATE OF j SKIP LOCKED))
), again AS MATERIALIZED (
    SELECT t.job_type FROM unknown_job_types t
    WHERE NOT EXISTS (SELECT FROM unknown u WHERE u.job_type = t.job_type)
), cleared AS (
    UPDATE jobs
    SET status_reason = NULL
    WHERE ctid = ANY (ARRAY(
        SELECT j.ctid
        FROM again a
        JOIN jobs j ON j.job_type = a.job_type AND j.status = 'pending' AND j.attempt >= 0
        WHERE j.status_reason LIKE 'no live worker knows the job type %'
        LIMIT $2
        FOR UPDATE OF j SKIP LOCKED))
    RETURNING 1
), known_again AS (
    UPDATE unknown_job_types t SET since = 'infinity' FROM again
    WHERE t.job_type = again.job_type AND (SELECT count(*) FROM cleared) > 0
), forgotten AS (
    DELETE FROM unknown_job_types t USING again
    WHERE t.job_type = again.job_type AND (SELECT count(*) FROM cleared) = 0
)
SELECT EXISTS (
    SELECT FROM unknown_job_types t JOIN unknown u ON u.job_type = t.job_type
    WHERE t.since < now() - make_interval(secs => $3)
) AS "waited!"
