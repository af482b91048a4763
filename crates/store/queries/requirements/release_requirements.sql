-- A validator job releases the requirements that it holds, except those in $3. Only the job's current worker may do
-- this.
UPDATE requirement_cache SET status = 'pending', validator_job_id = NULL
WHERE validator_job_id = (SELECT j.id FROM jobs j WHERE j.id = $1 AND j.lease_epoch = $2 AND j.status = 'running' FOR SHARE)
  AND status = 'validating' AND id <> ALL ($3::uuid[])
