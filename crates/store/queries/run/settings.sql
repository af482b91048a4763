SELECT resolved, takes_present_tools FROM job_settings WHERE job_id = $1
