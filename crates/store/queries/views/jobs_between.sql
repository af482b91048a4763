-- Jobs whose id is between $1 and $2: those with a common prefix.
SELECT id FROM jobs WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT 3
