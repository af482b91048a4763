-- The login of the workers: a member of plumbline_work only. Run it with psql as the owner, after deploy/roles.sql;
-- running it again resets the password.
\set ON_ERROR_STOP on
\getenv password WORKER_PASSWORD
SELECT 'CREATE ROLE plumbline_worker LOGIN'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'plumbline_worker') \gexec
ALTER ROLE plumbline_worker PASSWORD :'password';
GRANT plumbline_work TO plumbline_worker;
