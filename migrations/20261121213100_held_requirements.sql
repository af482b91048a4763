-- What a validator job holds is asked for with every turn. Its index has those few rows, and not all that the job has
-- judged before.
CREATE INDEX requirement_cache_held ON requirement_cache (validator_job_id) WHERE status = 'validating';
