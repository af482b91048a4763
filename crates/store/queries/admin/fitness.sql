-- Properties that a server needs before the tables are created or used. A login cannot see the tables to which row
-- security applies for it, unless a policy of deploy/roles.sql shows it every row.
SELECT current_setting('server_encoding') AS "encoding!",
       has_schema_privilege('public', 'CREATE') AS "may_create!",
       current_user::text AS "login!",
       coalesce((
           SELECT string_agg(c.relname::text, ', ' ORDER BY c.relname)
           FROM pg_class c
           WHERE c.relnamespace = 'public'::regnamespace AND row_security_active(c.oid)
             AND (c.oid = to_regclass('public.jobs')
                  OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'job_id'))
             AND c.relkind = 'r'
             AND (EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND NOT p.polpermissive)
                  OR NOT EXISTS (
                      SELECT FROM pg_policy p
                      WHERE p.polrelid = c.oid AND p.polname IN ('every_job', 'every_row', 'other_roles')
                        AND (0 = ANY (p.polroles)
                             OR EXISTS (SELECT FROM unnest(p.polroles) r WHERE pg_has_role(r, 'USAGE')))))
       ), '') AS "hidden!"
