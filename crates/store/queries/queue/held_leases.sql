SELECT id, lease_epoch FROM jobs WHERE worker_id = $1 AND status = 'running'
