-- What people call, and what fires when they write, finds the tables in whatever schemas their session looks: everything
-- here lives in public, and a role or a database may have a search_path without it.

ALTER FUNCTION enqueue_job(text, text, jsonb, text, bytea, int, timestamptz, text) SET search_path = public, pg_temp;
ALTER FUNCTION cancel_job(uuid) SET search_path = public, pg_temp;
ALTER FUNCTION pause_job(uuid) SET search_path = public, pg_temp;
ALTER FUNCTION resume_job(uuid, text) SET search_path = public, pg_temp;
ALTER FUNCTION retry_job(uuid) SET search_path = public, pg_temp;
ALTER FUNCTION approve_job(uuid) SET search_path = public, pg_temp;
ALTER FUNCTION send_feedback(uuid, text) SET search_path = public, pg_temp;
ALTER FUNCTION fork_job(uuid, bigint) SET search_path = public, pg_temp;
ALTER FUNCTION workspace_file(uuid, text) SET search_path = public, pg_temp;
ALTER FUNCTION forget_requirement_embeddings() SET search_path = public, pg_temp;
