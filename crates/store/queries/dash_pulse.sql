-- A few numbers that differ when the list of jobs does; four short looks into indexes.
SELECT (SELECT count(*) FROM jobs WHERE status = 'running') AS "running!",
       (SELECT coalesce(sum(step), 0)::bigint FROM jobs WHERE status = 'running') AS "steps!",
       (SELECT max(created_at) FROM jobs) AS newest,
       (SELECT max(completed_at) FROM jobs WHERE completed_at IS NOT NULL) AS last_ended
