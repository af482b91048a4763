-- Records the types of waiting jobs that no worker with a heartbeat in the last $1 seconds claims, and gives the reason
-- in up to $2 of their jobs: no live worker has the type's files, or what is wrong with them. Removes the record when a
-- worker claims them again or no job waits any more. Both are looked up by type, so that a queue of known types costs
-- nothing; and not more than 1,000 types at once, because anybody who enqueues may write any number of them. Returns
-- whether a type has been unknown for $3 seconds; the time does not run while a live worker has the type's files.
WITH live AS MATERIALIZED (
    SELECT job_types, broken_types FROM workers WHERE heartbeat_at > now() - make_interval(secs => $1)
), known AS MATERIALIZED (
    SELECT DISTINCT unnest(job_types) AS job_type FROM live
), broken AS MATERIALIZED (
    SELECT wrong.key AS job_type, min(wrong.value) AS reason FROM live, jsonb_each_text(broken_types) AS wrong GROUP BY wrong.key
), unknown AS MATERIALIZED (
    SELECT s.job_type, b.reason IS NOT NULL AS has_files,
           coalesce(b.reason, format('no live worker knows the job type `%s`; it waits for one that does', left(s.job_type, 200)))
               AS reason
    FROM job_shelves s
    LEFT JOIN broken b ON b.job_type = s.job_type
    WHERE s.status = 'pending' AND NOT EXISTS (SELECT FROM known k WHERE k.job_type = s.job_type)
    LIMIT 1000
), noted AS (
    INSERT INTO unknown_job_types AS u (job_type, since, reason)
    SELECT job_type, CASE WHEN has_files THEN 'infinity' ELSE now() END, reason FROM unknown
    ON CONFLICT (job_type) DO UPDATE
    SET since = CASE WHEN excluded.since = 'infinity' OR u.since = 'infinity' THEN excluded.since ELSE u.since END,
        reason = excluded.reason
    WHERE u.reason <> excluded.reason OR isfinite(u.since) <> isfinite(excluded.since)
), told AS (
    UPDATE jobs
    SET status_reason = u.reason
    FROM unknown u
    WHERE u.job_type = jobs.job_type AND ctid = ANY (ARRAY(
        SELECT j.ctid
        FROM unknown u
        JOIN jobs j ON j.job_type = u.job_type AND j.status = 'pending' AND j.attempt >= 0
        WHERE j.run_at <= now() AND j.status_reason IS DISTINCT FROM u.reason
        LIMIT $2
        FOR UPDATE OF j SKIP LOCKED))
), again AS MATERIALIZED (
    SELECT t.job_type, t.reason FROM unknown_job_types t
    WHERE EXISTS (SELECT FROM known k WHERE k.job_type = t.job_type)
       OR NOT EXISTS (SELECT FROM jobs j WHERE j.status = 'pending' AND j.attempt >= 0 AND j.job_type = t.job_type)
), cleared AS (
    UPDATE jobs
    SET status_reason = NULL
    WHERE ctid = ANY (ARRAY(
        SELECT j.ctid
        FROM again a
        JOIN jobs j ON j.job_type = a.job_type AND j.status = 'pending' AND j.attempt >= 0
        WHERE j.status_reason = a.reason
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
    WHERE t.since < now() - make_interval(secs => $3) AND NOT u.has_files
) AS "waited!"
