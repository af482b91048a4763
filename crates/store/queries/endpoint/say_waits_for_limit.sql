-- Marks running jobs that wait for their model's limit ($3), and unmarks those that do not. Rows that another
-- transaction holds are skipped and updated the next time: no transaction waits for this.
UPDATE jobs j
SET status_reason = CASE WHEN r.waits THEN $4::text END
FROM (
    SELECT k.id, w.waits
    FROM jobs k
    JOIN unnest($1::uuid[], $2::bigint[], $3::boolean[]) AS w (id, epoch, waits) ON w.id = k.id AND w.epoch = k.lease_epoch
    WHERE k.status = 'running' AND (k.status_reason IS NOT DISTINCT FROM $4) <> w.waits
      AND (w.waits AND k.status_reason IS NULL OR NOT w.waits)
    ORDER BY k.id
    FOR NO KEY UPDATE OF k SKIP LOCKED
) AS r
WHERE j.id = r.id
RETURNING j.id
