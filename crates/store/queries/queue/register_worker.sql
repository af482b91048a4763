INSERT INTO workers (id, hostname, version, concurrency, job_types, broken_types, limits_ceilings)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (id) DO UPDATE
SET hostname = excluded.hostname, version = excluded.version, concurrency = excluded.concurrency,
    job_types = excluded.job_types, broken_types = excluded.broken_types,
    limits_ceilings = excluded.limits_ceilings, heartbeat_at = now()
