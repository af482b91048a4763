-- Sets the column's default.
SELECT set_default_job_type($1)
