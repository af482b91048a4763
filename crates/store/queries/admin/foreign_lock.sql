-- A session that holds an advisory lock in this database and whose login may not migrate: neither our login nor a
-- member of it.
SELECT a.pid AS "pid!", a.usename::text AS "login!"
FROM pg_locks l
JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.granted AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
  AND NOT pg_has_role(a.usesysid, current_user, 'MEMBER')
ORDER BY a.pid
LIMIT 1
