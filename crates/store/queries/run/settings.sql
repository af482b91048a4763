SELECT resolved FROM job_settings WHERE job_id = $1
