-- Waits until no other transaction holds the lock on the job's row, and locks it for the rest of the transaction.
SELECT id FROM jobs WHERE id = $1 FOR NO KEY UPDATE
