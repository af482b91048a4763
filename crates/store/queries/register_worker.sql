INSERT INTO workers (id, hostname, version, concurrency)
VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE
SET hostname = excluded.hostname, version = excluded.version, concurrency = excluded.concurrency, heartbeat_at = now()
