-- The type of a job that is enqueued without one.
SELECT default_job_type() AS "job_type!"
