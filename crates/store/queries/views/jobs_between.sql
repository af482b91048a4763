-- Jobs whose id is from $1 to $2: what begins alike.
SELECT id FROM jobs WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT 3
