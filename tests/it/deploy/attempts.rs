//! What is tried as each role: `{own}` is a job of the enqueuer's, the others are another's.

/// Kinds of attempts, each with what is tried and how.
pub(super) const ATTEMPTS: &[(&str, &[(&str, &str)])] = &[
    ("Reading jobs", READING_JOBS),
    ("Reading what belongs to jobs", READING_ROWS),
    ("Inserting jobs", INSERTING),
    ("Commanding jobs", COMMANDING),
    ("Changing jobs by hand", CHANGING),
    ("Writing what workers write", WRITING),
    ("The schema", SCHEMA),
    ("The server", SERVER),
];

const READING_JOBS: &[(&str, &str)] = &[
    ("how one's own job goes", "SELECT status, status_reason, started_at, completed_at FROM jobs WHERE id = '{own}'"),
    ("one's own job's result", "SELECT result FROM jobs WHERE id = '{own}' AND result IS NOT NULL"),
    ("how another's job goes", "SELECT status, status_reason FROM jobs WHERE id = '{other}'"),
    ("another's result", "SELECT result FROM jobs WHERE id = '{done}'"),
    ("another's prompt", "SELECT prompt FROM jobs WHERE id = '{other}'"),
    ("another's inline document", "SELECT document_content FROM jobs WHERE id = '{done}'"),
    ("another's context", "SELECT context FROM jobs WHERE id = '{other}'"),
    ("another's configuration", "SELECT config FROM jobs WHERE id = '{other}'"),
    ("whose another's job is", "SELECT created_by FROM jobs WHERE id = '{other}'"),
    ("how a job in review goes", "SELECT status, status_reason FROM jobs WHERE id = '{review}'"),
    ("what a job in review was to do", "SELECT prompt FROM jobs WHERE id = '{review}'"),
    ("the result of a job in review", "SELECT result FROM jobs WHERE id = '{review}'"),
    ("another's line of job_summary", "SELECT * FROM job_summary WHERE id = '{other}'"),
];

const READING_ROWS: &[(&str, &str)] = &[
    ("one's own job's list of files", "SELECT path FROM workspace_files WHERE job_id = '{own}'"),
    ("one's own job's file", "SELECT 1 WHERE workspace_file('{own}', 'main_plan.md') IS NOT NULL"),
    ("another's list of files", "SELECT path FROM workspace_files WHERE job_id = '{done}'"),
    ("another's file", "SELECT 1 WHERE workspace_file('{done}', 'main_plan.md') IS NOT NULL"),
    ("the list of files of a job in review", "SELECT path FROM workspace_files WHERE job_id = '{review}'"),
    ("a file of a job in review", "SELECT 1 WHERE workspace_file('{review}', 'main_plan.md') IS NOT NULL"),
    ("stored settings and prompts", "SELECT resolved FROM job_settings"),
    ("conversations", "SELECT content FROM messages"),
    ("checkpoints", "SELECT state FROM checkpoints"),
    ("contents of files", "SELECT content FROM blobs"),
    ("versions of files", "SELECT path FROM file_versions"),
    ("documents", "SELECT path FROM sources"),
    ("citations", "SELECT quote FROM citations"),
    ("requirements", "SELECT text FROM requirement_cache"),
    ("plans", "SELECT content FROM todos"),
    ("phases", "SELECT name FROM phases"),
    ("attempts", "SELECT outcome FROM attempts"),
    ("what requests cost", "SELECT prompt_tokens FROM llm_requests"),
    ("workers", "SELECT hostname FROM workers"),
    ("what users wrote to jobs", "SELECT text FROM feedback"),
    ("who gave which command", "SELECT * FROM job_commands"),
    ("limits of how many run", "SELECT * FROM concurrency_limits"),
];

const INSERTING: &[(&str, &str)] = &[
    ("a job", "INSERT INTO jobs (prompt) VALUES ('Extract')"),
    ("a job by the function", "SELECT enqueue_job('Extract')"),
    ("with a status", "INSERT INTO jobs (prompt, status) VALUES ('Extract', 'paused')"),
    ("with a worker", "INSERT INTO jobs (prompt, worker_id) VALUES ('Extract', gen_random_uuid())"),
    ("with a lease", "INSERT INTO jobs (prompt, lease_epoch) VALUES ('Extract', 7)"),
    ("with counters", "INSERT INTO jobs (prompt, crash_count) VALUES ('Extract', 2147483647)"),
    ("with a result", "INSERT INTO jobs (prompt, result) VALUES ('Extract', '{}')"),
    ("with a time of creation", "INSERT INTO jobs (prompt, created_at) VALUES ('Extract', '-infinity')"),
    ("with raised limits", r#"INSERT INTO jobs (prompt, raised_limits) VALUES ('Extract', '{"max_iterations": 9}')"#),
    (
        "as somebody else",
        "WITH made AS (INSERT INTO jobs (prompt, created_by) VALUES ('Extract', 'somebody') RETURNING created_by)
         SELECT FROM made WHERE created_by = 'somebody'",
    ),
    ("as a child of another's", "INSERT INTO jobs (prompt, parent_job_id) VALUES ('Extract', '{other}')"),
    (
        "with the key of another's follower",
        "INSERT INTO jobs (prompt, job_type, idempotency_key) VALUES ('hijack', 'validator', 'on_complete:{review}')",
    ),
    (
        "the same by the function",
        "SELECT enqueue_job('hijack', 'validator', idempotency_key => 'on_complete:{review}')",
    ),
    (
        "a validator of another's requirements",
        r#"INSERT INTO jobs (prompt, job_type, context) VALUES ('x', 'validator', '{"parent_job_id": "{done}"}')"#,
    ),
    (
        "a validator of one's own requirements",
        r#"INSERT INTO jobs (prompt, job_type, context) VALUES ('x', 'validator', '{"parent_job_id": "{own}"}')"#,
    ),
    ("a validator of everybody's requirements", "INSERT INTO jobs (prompt, job_type) VALUES ('x', 'validator')"),
];

const COMMANDING: &[(&str, &str)] = &[
    ("cancel_job", "SELECT cancel_job('{other}')"),
    ("pause_job", "SELECT pause_job('{other}')"),
    ("resume_job", "SELECT resume_job('{review}')"),
    ("resume_job with limits", r#"SELECT resume_job('{review}', limits => '{"max_iterations": 900}')"#),
    ("retry_job", "SELECT retry_job('{failed}')"),
    ("approve_job", "SELECT approve_job('{review}')"),
    ("approve_job of one that is in no review", "SELECT approve_job('{other}')"),
    ("send_feedback to a job in review", "SELECT send_feedback('{review}', 'x')"),
    ("fork_job", "SELECT fork_job('{done}', 1)"),
    ("enqueue_follower", "SELECT enqueue_follower('{done}')"),
    ("an unrecorded command", "SELECT job_status_for('cancel_job', '{other}', ARRAY['pending'])"),
    ("unrecorded feedback", "SELECT add_feedback('{other}', 'x')"),
    (
        "posing as a command",
        "WITH said AS (SELECT set_config('plumbline.command', '{failed}', true) AS job)
         UPDATE jobs SET status = 'pending' FROM said WHERE id = said.job::uuid",
    ),
    ("a record of a command", "INSERT INTO job_commands (job_id, command) VALUES ('{other}', 'approve_job')"),
    ("no record of commands", "DELETE FROM job_commands"),
    ("another's name in the record", "UPDATE job_commands SET by = 'somebody'"),
];

const CHANGING: &[(&str, &str)] = &[
    ("cancelling by UPDATE", "UPDATE jobs SET status = 'cancelled' WHERE id = '{other}'"),
    ("completing what is in review", "UPDATE jobs SET status = 'completed' WHERE id = '{review}'"),
    ("reviving what is completed", "UPDATE jobs SET status = 'pending' WHERE id = '{done}'"),
    ("the prompt", "UPDATE jobs SET prompt = 'Something else' WHERE id = '{other}'"),
    ("the configuration", "UPDATE jobs SET config = '{}' WHERE id = '{other}'"),
    ("the document", "UPDATE jobs SET document_path = '/etc/passwd' WHERE id = '{other}'"),
    ("the worker", "UPDATE jobs SET worker_id = NULL WHERE id = '{other}'"),
    ("the lease", "UPDATE jobs SET lease_epoch = lease_epoch + 1 WHERE id = '{other}'"),
    ("the count of crashes", "UPDATE jobs SET crash_count = 2147483647 WHERE id = '{other}'"),
    ("the count of attempts", "UPDATE jobs SET attempt = 0 WHERE id = '{other}'"),
    ("the count of feedback", "UPDATE jobs SET feedback_untaken = 2147483647 WHERE id = '{other}'"),
    ("what it cost", "UPDATE jobs SET cost_usd = 0 WHERE id = '{other}'"),
    ("its time", "UPDATE jobs SET run_at = 'infinity' WHERE id = '{other}'"),
    ("when it ended", "UPDATE jobs SET completed_at = 'infinity' WHERE id = '{done}'"),
    ("its priority", "UPDATE jobs SET priority = 2147483647 WHERE id = '{other}'"),
    ("its result", "UPDATE jobs SET result = '{}' WHERE id = '{done}'"),
    ("its limits", r#"UPDATE jobs SET raised_limits = '{"cost_budget_usd": null}' WHERE id = '{other}'"#),
    ("its error", "UPDATE jobs SET error_message = 'x' WHERE id = '{other}'"),
    ("its creator", "UPDATE jobs SET created_by = 'somebody' WHERE id = '{other}'"),
    ("deleting it", "DELETE FROM jobs WHERE id = '{other}'"),
    ("holding its row", "SELECT id FROM jobs WHERE id = '{other}' FOR UPDATE"),
];

const WRITING: &[(&str, &str)] = &[
    ("a requirement's status", "UPDATE requirement_cache SET status = 'rejected', rejection_reason = 'x'"),
    ("a requirement's text", "UPDATE requirement_cache SET text = 'Something else'"),
    ("no requirement", "DELETE FROM requirement_cache"),
    ("feedback", "INSERT INTO feedback (job_id, text) VALUES ('{other}', 'x')"),
    ("another conversation", "UPDATE messages SET content = 'x'"),
    ("no conversation", "DELETE FROM messages"),
    ("other settings", "UPDATE job_settings SET resolved = '{}'"),
    ("another checkpoint's lease", "UPDATE checkpoints SET lease_epoch = 0"),
    ("no checkpoints", "DELETE FROM checkpoints"),
    ("other contents of files", "UPDATE blobs SET content = ''"),
    ("no files", "DELETE FROM file_versions"),
    ("a citation", "UPDATE citations SET verified = true"),
    ("what requests cost", "UPDATE llm_requests SET prompt_tokens = 0"),
    ("attempts", "UPDATE attempts SET outcome = 'crashed'"),
    ("a worker's heartbeat", "UPDATE workers SET heartbeat_at = 'infinity'"),
    ("a worker", "INSERT INTO workers (id, hostname, version, concurrency) VALUES (gen_random_uuid(), 'x', 'x', 1)"),
    ("no workers", "DELETE FROM workers"),
    ("a limit of how many run", "INSERT INTO concurrency_limits VALUES ('creator', '', 0)"),
    ("no limits of how many run", "DELETE FROM concurrency_limits"),
];

const SCHEMA: &[(&str, &str)] = &[
    ("a table in public", "CREATE TABLE public.mine (id int)"),
    ("a function in public", "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'"),
    ("a schema", "CREATE SCHEMA mine"),
    ("another column", "ALTER TABLE jobs ADD COLUMN mine int"),
    ("a trigger", "CREATE TRIGGER mine BEFORE INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION jobs_touch()"),
    ("no triggers", "ALTER TABLE jobs DISABLE TRIGGER ALL"),
    ("no triggers in this session", "SET LOCAL session_replication_role = replica"),
    ("no policies", "ALTER TABLE jobs DISABLE ROW LEVEL SECURITY"),
    ("another policy", "CREATE POLICY mine ON jobs USING (true)"),
    ("another function", "ALTER FUNCTION approve_job(uuid) SECURITY INVOKER"),
    ("no jobs", "TRUNCATE jobs CASCADE"),
    ("no table", "DROP TABLE jobs CASCADE"),
    ("no record of migrations", "DELETE FROM _sqlx_migrations"),
    ("a lock that stops everything", "LOCK TABLE messages IN ACCESS EXCLUSIVE MODE"),
    ("an index for embeddings", "SELECT index_embeddings('segment_embeddings', 'm', 3)"),
];

const SERVER: &[(&str, &str)] = &[
    ("a program", "COPY (SELECT 1) TO PROGRAM 'true'"),
    ("a file of the server's, written", "COPY (SELECT 1) TO '/tmp/plumbline-roles'"),
    ("a file of the server's", "SELECT pg_read_file('/etc/hostname')"),
    ("a folder of the server's", "SELECT pg_ls_dir('.')"),
    ("a file as a large object", "SELECT lo_import('/etc/hostname')"),
    ("passwords", "SELECT rolpassword FROM pg_authid"),
    ("the server's settings read anew", "SELECT pg_reload_conf()"),
    (
        "the end of the owner's sessions",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{owner}' AND datname = current_database()",
    ),
    ("a role", "CREATE ROLE plumbline_mine"),
    ("being a superuser", "ALTER ROLE {me} SUPERUSER"),
    ("being a worker", "GRANT plumbline_work TO {me}"),
    ("being the owner", "SET LOCAL ROLE {owner}"),
];
