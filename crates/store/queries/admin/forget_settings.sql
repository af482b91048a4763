-- Makes a job start with the current configuration.
DELETE FROM job_settings WHERE job_id = $1
