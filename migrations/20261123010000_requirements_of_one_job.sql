-- A validator of one job takes that job's waiting requirements, a validator of all jobs the oldest of all. Where none
-- waited when the table was last analyzed, the planner takes one for all there are, and the index of one job's rows for
-- no better than that of all. So the statements of a validator of one job say their condition in other words, which
-- only the index of one job's rows knows. It knows the usual words as well, which other programs use.
CREATE INDEX requirement_cache_queue_of_one_job ON requirement_cache (job_id, created_at, id)
    WHERE status = 'pending' OR status IS NOT DISTINCT FROM 'pending';
DROP INDEX requirement_cache_queue_of_job;
ALTER INDEX requirement_cache_queue_of_one_job RENAME TO requirement_cache_queue_of_job;
