-- One row for all jobs of the worker.
UPDATE workers SET heartbeat_at = now() WHERE id = $1
