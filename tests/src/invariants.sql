-- What holds after every test, whatever happened in it. One row a violation: the rule, the job, what was found.
-- The numbers are those of the project's list of faults; what rows cannot show (I5, I10) is tested elsewhere.

-- I1: ended and completed_at go together, and an ended job says how it ended.
SELECT 'I1: ended, and completed_at' AS rule, id AS job_id, status AS found
FROM jobs WHERE (status IN ('completed', 'failed', 'cancelled')) <> (completed_at IS NOT NULL)
UNION ALL
SELECT 'I1: failed, and error_message', id, coalesce(error_message, 'none')
FROM jobs WHERE status = 'failed' AND (coalesce(error_message, '') = '' OR error_details IS NULL)
UNION ALL
SELECT 'I1: completed, and result', id, coalesce(result::text, 'none')
FROM jobs WHERE status = 'completed' AND (result ->> 'summary' IS NULL OR error_message IS NOT NULL)

-- I2: steps are gap-free, the last one is the job's, epochs never decrease along them and are of real attempts.
UNION ALL
SELECT 'I2: steps without a gap', job_id, format('%s after %s', step, before)
FROM (SELECT job_id, step, lag(step, 1, 0) OVER (PARTITION BY job_id ORDER BY step) AS before FROM checkpoints) AS s
WHERE step <> before + 1
UNION ALL
SELECT 'I2: jobs.step is the last step', j.id, format('%s, last %s', j.step, max(c.step))
FROM jobs j LEFT JOIN checkpoints c ON c.job_id = j.id
GROUP BY j.id HAVING j.step <> coalesce(max(c.step), 0)
UNION ALL
SELECT 'I2: epochs never decrease', job_id, format('step %s: %s after %s', step, lease_epoch, before)
FROM (SELECT *, lag(lease_epoch, 1, 0) OVER (PARTITION BY job_id ORDER BY step) AS before FROM checkpoints) AS s
WHERE lease_epoch < before
UNION ALL
SELECT 'I2: a step has its attempt', c.job_id, format('step %s of epoch %s', c.step, c.lease_epoch)
FROM checkpoints c
WHERE NOT EXISTS (SELECT FROM attempts a WHERE a.job_id = c.job_id AND a.lease_epoch = c.lease_epoch)
UNION ALL
SELECT 'I2: one attempt a claim', j.id, format('%s attempts, %s claims', count(a.lease_epoch), j.lease_epoch)
FROM jobs j LEFT JOIN attempts a ON a.job_id = j.id
GROUP BY j.id HAVING count(a.lease_epoch) <> j.lease_epoch
UNION ALL
SELECT 'I2: an attempt is open while its job runs, and only then', j.id, format('%s, %s open', j.status, count(a.job_id))
FROM jobs j LEFT JOIN attempts a ON a.job_id = j.id AND a.ended_at IS NULL
GROUP BY j.id HAVING count(a.job_id) <> (j.status = 'running')::int

-- I3: each tool call has its one result, directly after the call and in the calls' order. The last message may still
-- wait for its results where the job has not ended well.
UNION ALL
SELECT 'I3: a call''s result follows it', m.job_id, format('message %s, call %s (%s)', m.seq, c.position, c.call ->> 'id')
FROM messages m
JOIN jobs j ON j.id = m.job_id
CROSS JOIN LATERAL json_array_elements(m.tool_calls) WITH ORDINALITY AS c (call, position)
WHERE NOT EXISTS (
        SELECT FROM messages r
        WHERE r.job_id = m.job_id AND r.seq = m.seq + c.position AND r.role = 'tool'
          AND r.tool_call_id = c.call ->> 'id')
  AND (j.status = 'completed'
       OR EXISTS (SELECT FROM messages later WHERE later.job_id = m.job_id AND later.seq > m.seq))
UNION ALL
SELECT 'I3: no result without its call', r.job_id, format('message %s, result of %s', r.seq, r.tool_call_id)
FROM messages r
WHERE r.role = 'tool' AND NOT EXISTS (
        SELECT FROM messages m
        CROSS JOIN LATERAL json_array_elements(m.tool_calls) WITH ORDINALITY AS c (call, position)
        WHERE m.job_id = r.job_id AND m.role = 'assistant' AND m.seq + c.position = r.seq
          AND c.call ->> 'id' = r.tool_call_id)

-- I4: a requirement is one row, of a step that was committed.
UNION ALL
SELECT 'I4: a requirement once', job_id, min(text)
FROM requirement_cache GROUP BY job_id, lower(regexp_replace(text, '\s+', ' ', 'g')) HAVING count(*) > 1
UNION ALL
SELECT 'I4: a requirement is of a step', r.job_id, format('step %s', r.step)
FROM requirement_cache r
WHERE NOT EXISTS (SELECT FROM checkpoints c WHERE c.job_id = r.job_id AND c.step = r.step)

-- I7: a call that has a result is never asked again: an id is used once among the calls of one step.
UNION ALL
SELECT 'I7: a call once a step', job_id, format('step %s, %s', step, tool_call_id)
FROM messages WHERE role = 'tool' GROUP BY job_id, step, tool_call_id HAVING count(*) > 1

-- I8: what a job has used is the sum of its requests.
UNION ALL
SELECT 'I8: requests, tokens, cached tokens', j.id,
       format('jobs %s %s %s, sums %s %s %s', j.total_requests, j.total_tokens_used, j.cached_tokens, s.n, s.tokens, s.cached)
FROM jobs j
CROSS JOIN LATERAL (
    SELECT count(*) AS n, coalesce(sum(prompt_tokens + completion_tokens), 0) AS tokens,
           coalesce(sum(cached_tokens), 0) AS cached
    FROM llm_requests r WHERE r.job_id = j.id
) AS s
WHERE (j.total_requests, j.total_tokens_used, j.cached_tokens) IS DISTINCT FROM (s.n, s.tokens, s.cached)

-- I9: no job runs without a worker that lives.
UNION ALL
SELECT 'I9: a running job has a live worker', j.id, coalesce(w.heartbeat_at::text, 'no worker')
FROM jobs j LEFT JOIN workers w ON w.id = j.worker_id
WHERE j.status = 'running' AND (w.id IS NULL OR w.heartbeat_at < now() - interval '10 seconds')

-- Phases are numbered without a gap, all but the last are closed, and the job is in the last one.
UNION ALL
SELECT 'phases without a gap, only the last one open', job_id, format('phase %s of %s', phase_number, n)
FROM (
    SELECT *, row_number() OVER w AS position, count(*) OVER (PARTITION BY job_id) AS n
    FROM phases WINDOW w AS (PARTITION BY job_id ORDER BY phase_number)
) AS p
WHERE phase_number <> position OR (position < n AND outcome IS NULL) OR ((outcome IS NULL) <> (ended_at IS NULL))
UNION ALL
SELECT 'jobs.phase_number is the last phase', j.id, format('%s, last %s', j.phase_number, max(p.phase_number))
FROM jobs j LEFT JOIN phases p ON p.job_id = j.id
GROUP BY j.id HAVING j.phase_number <> coalesce(max(p.phase_number), 0)

-- Todos: numbered without a gap, closed with a time, none left open in a phase that was completed, counted right.
UNION ALL
SELECT 'todos without a gap', job_id, format('phase %s, position %s', phase_number, position)
FROM (SELECT *, row_number() OVER (PARTITION BY job_id, phase_number ORDER BY position) AS expected FROM todos) AS t
WHERE position <> expected
UNION ALL
SELECT 'a todo is completed, and completed_at', job_id, format('phase %s, todo %s: %s', phase_number, position, status)
FROM todos WHERE (status = 'completed') <> (completed_at IS NOT NULL)
UNION ALL
SELECT 'one todo in progress', job_id, format('phase %s: %s', phase_number, count(*))
FROM todos WHERE status = 'in_progress' GROUP BY job_id, phase_number HAVING count(*) > 1
UNION ALL
SELECT 'no open todo in a completed phase', t.job_id, format('phase %s, todo %s: %s', t.phase_number, t.position, t.status)
FROM todos t JOIN phases p USING (job_id, phase_number)
WHERE p.outcome = 'completed' AND t.status IN ('pending', 'in_progress')
UNION ALL
SELECT 'jobs counts its todos', j.id, format('%s of %s, rows %s of %s', j.todos_done, j.todos_total, s.done, s.total)
FROM jobs j
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE t.status = 'completed') AS done, count(*) AS total
    FROM todos t WHERE t.job_id = j.id AND t.phase_number = j.phase_number
) AS s
WHERE (j.todos_done, j.todos_total) IS DISTINCT FROM (s.done, s.total)

-- Nothing is of a step that was not committed.
UNION ALL
SELECT 'a message is of a step', m.job_id, format('message %s of step %s', m.seq, m.step)
FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.step > j.step
UNION ALL
SELECT 'a file is of a step', f.job_id, format('%s of step %s', f.path, f.step)
FROM file_versions f JOIN jobs j ON j.id = f.job_id WHERE f.step > j.step
UNION ALL
SELECT 'a content is kept for a file', b.job_id, encode(b.sha256, 'hex')
FROM blobs b
WHERE NOT EXISTS (SELECT FROM file_versions f WHERE f.job_id = b.job_id AND f.sha256 = b.sha256)
