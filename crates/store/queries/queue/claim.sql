-- Claims the most urgent runnable jobs, skipping locked ones, and opens an attempt for each, in one statement.
-- A worker without a row, or whose last heartbeat is older than its lease ($4 seconds), gets nothing: its jobs would be
-- swept at once, and each sweep would count as a crash of the job.
--
-- Each lane of the worker's job types ($3; all, if null) with free slots is read from its front (front_of_lane), so
-- that jobs that may not run cost nothing. If there are limits, claims run one after the other: each locks the limits
-- before it counts, so the count includes what the previous one committed.
WITH waiting AS MATERIALIZED (
    SELECT job_type, concurrency_key, priority, run_at, created_at
    FROM waiting_lanes(coalesce($3::text[], ARRAY(SELECT s.job_type FROM job_shelves s WHERE s.status = 'pending')))
), limits AS MATERIALIZED (
    SELECT job_type, key, CASE WHEN key = '*' THEN max_running
                               ELSE greatest(max_running - running_in_lane(job_type, key), 0) END AS slots
    FROM (
        SELECT job_type, key, max_running
        FROM concurrency_limits
        WHERE EXISTS (SELECT FROM waiting)
        ORDER BY job_type, key
        FOR UPDATE
    ) AS locked
), lanes AS MATERIALIZED (
    SELECT w.job_type, w.concurrency_key, w.priority, w.run_at, w.created_at, coalesce(of_type.slots, $2) AS type_slots,
           least($2, of_type.slots, of_key.slots,
                 CASE WHEN each_key.slots IS NOT NULL AND of_key.slots IS NULL AND w.concurrency_key <> '' THEN
                     greatest(each_key.slots - running_in_lane(w.job_type, w.concurrency_key), 0) END) AS slots
    FROM waiting w
    LEFT JOIN limits of_type ON of_type.job_type = w.job_type AND of_type.key = ''
    LEFT JOIN limits of_key ON of_key.job_type = w.job_type AND of_key.key = nullif(w.concurrency_key, '')
    LEFT JOIN limits each_key ON each_key.job_type = w.job_type AND each_key.key = '*'
    WHERE ($3::text[] IS NULL OR w.job_type = ANY ($3))
      AND EXISTS (
          SELECT FROM workers WHERE workers.id = $1 AND heartbeat_at >= now() - make_interval(secs => $4))
), front AS MATERIALIZED (
    SELECT taken.spot, taken.id, taken.priority, taken.run_at, taken.created_at, lanes.job_type, lanes.type_slots
    FROM lanes
    CROSS JOIN LATERAL
        front_of_lane(lanes.job_type, lanes.concurrency_key, lanes.priority, lanes.run_at, lanes.created_at,
                      lanes.slots) AS taken
), picked AS MATERIALIZED (
    SELECT spot
    FROM (
        SELECT spot, id, priority, run_at, created_at, type_slots,
               row_number() OVER (PARTITION BY job_type ORDER BY priority DESC, run_at, created_at, id) AS place
        FROM front
    ) AS placed
    WHERE place <= type_slots
    ORDER BY priority DESC, run_at, created_at, id
    LIMIT $2
), claimed AS (
    UPDATE jobs j
    SET status = 'running', status_reason = NULL, worker_id = $1, lease_epoch = lease_epoch + 1, attempt = attempt + 1,
        -- By the clock: the job may be inserted after this statement began. Older rows may hold an infinite time.
        started_at = CASE WHEN isfinite(started_at) THEN started_at ELSE clock_timestamp() END,
        updated_at = clock_timestamp()
    FROM picked
    WHERE j.ctid = picked.spot
    -- Only the columns needed below: these rows are kept until the statement ends, and none of the columns can be made
    -- large by a user. A claim's jobs are announced here (see jobs_notify_status).
    RETURNING j.id, job_type, concurrency_key, priority, run_at, created_at, attempt, max_attempts, lease_epoch, step,
              started_at, feedback_untaken > 0 AS feedback_pending, crash_count,
              -- Infinite times have no difference.
              extract(epoch FROM now() - least(now(), greatest(run_at, created_at, '0001-01-01 00:00:00Z'))) AS waited_secs,
              pg_notify('plumbline_jobs', job_notice(j.id, 'running', job_type, (SELECT notices_tell_all())))
), joined AS (
    -- Due jobs join the queue, longest due first, a limited number at once. The next claim sees them, and workers are
    -- notified to claim.
    UPDATE jobs
    SET scheduled = false
    WHERE ctid = ANY (ARRAY(
        SELECT ctid
        FROM jobs
        WHERE status = 'pending' AND scheduled AND run_at <= now()
        ORDER BY run_at
        LIMIT 1000
        FOR UPDATE SKIP LOCKED
    ))
    RETURNING pg_notify('plumbline_jobs', job_notice(id, 'pending', job_type, (SELECT notices_tell_all())))
), opened AS (
    INSERT INTO attempts (job_id, attempt, lease_epoch, worker_id)
    SELECT id, attempt, lease_epoch, $1 FROM claimed
)
SELECT id AS "id!", job_type AS "job_type!", concurrency_key AS "concurrency_key!", priority AS "priority!",
       -- Bounded, because the driver does not support infinite times.
       greatest(run_at, '0001-01-01 00:00:00Z') AS "run_at!",
       greatest(least(created_at, '9999-12-31 00:00:00Z'), '0001-01-01 00:00:00Z') AS "created_at!",
       attempt AS "attempt!", max_attempts AS "max_attempts!", lease_epoch AS "lease_epoch!", step AS "step!",
       waited_secs::double precision AS "waited_secs!", started_at AS "started_at!",
       feedback_pending AS "feedback_pending!",
       -- One more crash would fail it, if it were to blame.
       crash_count > 0 AND (crash_count >= 2 OR attempt >= max_attempts) AS "is_suspect!",
       EXISTS (SELECT FROM job_settings s WHERE s.job_id = claimed.id) AS "has_settings!"
FROM claimed
