-- Waits until nobody else has the job's row locked, and locks it for the rest of the transaction.
SELECT id FROM jobs WHERE id = $1 FOR NO KEY UPDATE
