-- VACUUM marks only rows whose commit has reached the disk, and the pages that a statement reads are counted.
SET synchronous_commit = on;
-- 100,000 jobs, 200,000 requirements, and one job of 10,000 turns: what a busy year leaves. Rows are made as they would
-- be found, not as they would be written, so the triggers that watch writers are off.
ALTER TABLE jobs DISABLE TRIGGER USER;
INSERT INTO workers (id, hostname, version, concurrency, heartbeat_at)
VALUES (md5('worker')::uuid, 'far', '0', 1, now() + interval '1 day');
INSERT INTO jobs (id, job_type, prompt, status, worker_id, lease_epoch, created_at, started_at, completed_at, step)
SELECT md5('job' || n)::uuid,
       CASE n % 20 WHEN 0 THEN 'validator' WHEN 1 THEN 'reviewer' ELSE 'creator' END,
       repeat('Extract every requirement. ', 8), kind.status,
       CASE WHEN kind.status = 'running' THEN md5('worker')::uuid END, 1,
       now() - n * interval '20 seconds', now() - n * interval '20 seconds',
       CASE WHEN kind.status IN ('completed', 'failed') THEN now() - n * interval '19 seconds' END, 50
FROM generate_series(1, 100000) AS n
CROSS JOIN LATERAL (
    SELECT CASE WHEN n % 1000 = 0 THEN 'running' WHEN n % 1000 = 1 THEN 'paused' WHEN n % 50 = 2 THEN 'failed'
                WHEN n % 100 = 3 THEN 'pending' ELSE 'completed' END
) AS kind(status);
ALTER TABLE jobs ENABLE TRIGGER USER;

INSERT INTO requirement_cache (job_id, id, text, name, citations, step)
SELECT md5('job' || (n % 100000 + 1))::uuid, md5('requirement' || n)::uuid,
       'The owner must keep a register of its records for six years.', 'Keep a register',
       '[{"source": "input/policy.pdf", "page": 3, "quote": "must keep", "verified": true}]', 1
FROM generate_series(1, 200000) AS n;

INSERT INTO checkpoints (job_id, step, phase_number, phase, state, lease_epoch)
SELECT md5('job7')::uuid, n, (n - 1) / 50 + 1, 'tactical', NULL, 1 FROM generate_series(1, 10000) AS n;
INSERT INTO phases (job_id, phase_number, kind, name, opened_step, closed_step, ended_at)
SELECT md5('job7')::uuid, n, 'tactical', 'A phase', (n - 1) * 50, CASE WHEN n < 200 THEN n * 50 END,
       CASE WHEN n < 200 THEN now() END
FROM generate_series(1, 200) AS n;
INSERT INTO todos (job_id, phase_number, position, content, created_step, status)
SELECT md5('job7')::uuid, phase, n, 'Read the next section and note what it asks for', (phase - 1) * 50,
       CASE WHEN phase < 200 THEN 'completed' ELSE 'pending' END
FROM generate_series(1, 200) AS phase, generate_series(1, 15) AS n;
INSERT INTO llm_requests (job_id, id, step, model, purpose, prompt_tokens, cached_tokens, completion_tokens, estimated,
                          duration_ms, attempt, created_at)
SELECT md5('job7')::uuid, md5('request' || n)::uuid, n, 'model', 'tactical', 20000, 15000, 300, false, 900, 1,
       now() + n * interval '1 second'
FROM generate_series(1, 10000) AS n;
INSERT INTO messages (job_id, seq, step, phase_number, role, kind, content, tool_calls, tool_call_id, tokens)
SELECT md5('job7')::uuid, n * 2 - 1, n, (n - 1) / 50 + 1, 'assistant', 'reply', '',
       json_build_array(json_build_object('id', 'call' || n, 'name', 'read_file', 'arguments', '{"path":"a.md"}')),
       NULL, 20
FROM generate_series(1, 10000) AS n
UNION ALL
SELECT md5('job7')::uuid, n * 2, n, (n - 1) / 50 + 1, 'tool', 'tool_result',
       repeat('The owner must keep a register. ', 60), NULL, 'call' || n, 500
FROM generate_series(1, 10000) AS n;
INSERT INTO blobs (job_id, sha256, content)
SELECT md5('job7')::uuid, sha256(('blob' || n)::bytea), repeat('line ' || n, 100)::bytea
FROM generate_series(1, 10000) AS n;
INSERT INTO file_versions (job_id, path, step, sha256, size, placeholder)
SELECT md5('job7')::uuid, CASE WHEN n % 2 = 0 THEN 'workspace.md' ELSE 'chunks/chunk_' || n % 1000 || '.md' END, n,
       sha256(('blob' || n)::bytea), 900, false
FROM generate_series(1, 10000) AS n;
INSERT INTO shared_files (set_id, path, sha256, size, placeholder, content)
SELECT 'set', 'tools/tool_' || n || '.md', sha256(('tool' || n)::bytea), 900, false, repeat('use ' || n, 100)::bytea
FROM generate_series(1, 50) AS n;
INSERT INTO job_shared_files (job_id, set_id, step) VALUES (md5('job7')::uuid, 'set', 1);
INSERT INTO attempts (job_id, attempt, lease_epoch, worker_id)
SELECT md5('job7')::uuid, 1, n, md5('worker')::uuid FROM generate_series(1, 300) AS n;
INSERT INTO requirement_cache (job_id, id, text, name, citations, step)
SELECT md5('job7')::uuid, md5('more' || n)::uuid, 'The owner must keep a register of its records for six years.',
       'Keep a register', '[{"source": "input/policy.pdf", "page": 3, "quote": "must keep", "verified": true}]', 1
FROM generate_series(1, 5000) AS n;
UPDATE jobs SET step = 10000, phase_number = 200, phase = 'tactical', phase_name = 'A phase'
WHERE id = md5('job7')::uuid;
VACUUM (ANALYZE) jobs, requirement_cache, checkpoints, phases, todos, llm_requests, messages, file_versions, attempts;
