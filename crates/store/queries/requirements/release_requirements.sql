-- A validator job gives back the requirements that it holds, but for those in $3. Only the job's present worker does.
UPDATE requirement_cache SET status = 'pending', validator_job_id = NULL
WHERE validator_job_id = (SELECT j.id FROM jobs j WHERE j.id = $1 AND j.lease_epoch = $2 AND j.status = 'running' FOR SHARE)
  AND status = 'validating' AND id <> ALL ($3::uuid[])
