-- A job that begins with the configuration of now.
DELETE FROM job_settings WHERE job_id = $1
