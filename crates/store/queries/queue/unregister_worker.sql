WITH slots AS (
    DELETE FROM endpoint_slots WHERE worker_id = $1
)
DELETE FROM workers WHERE id = $1
