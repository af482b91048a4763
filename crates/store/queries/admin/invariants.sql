-- Invariants that hold at any time. One row per violation: the rule, the job, what was found.
-- $1: seconds that a running job may be without a live worker (the lease and a sweep's interval).
-- The system tests check what rows cannot show: the mirrored folder (I6) and secrets (I10).
WITH found AS (

-- I1: exactly the ended jobs have completed_at, and a job that its worker ended has an outcome.
SELECT 'I1: ended, and completed_at' AS rule, id AS job_id, status AS found
FROM jobs WHERE (status IN ('completed', 'failed', 'cancelled')) <> (completed_at IS NOT NULL)
UNION ALL
SELECT 'I1: failed, and error_message', j.id, coalesce(j.error_message, 'none')
FROM jobs j JOIN attempts a ON a.job_id = j.id AND a.lease_epoch = j.lease_epoch AND a.outcome IN ('ended', 'crashed')
WHERE j.status = 'failed' AND (coalesce(j.error_message, '') = '' OR j.error_details IS NULL)
UNION ALL
SELECT 'I1: completed, and result', j.id, coalesce(j.result::text, 'none')
FROM jobs j JOIN attempts a ON a.job_id = j.id AND a.lease_epoch = j.lease_epoch AND a.outcome = 'ended'
WHERE j.status = 'completed' AND (j.result ->> 'summary' IS NULL OR j.error_message IS NOT NULL)

-- Scheduled jobs are pending, and pending jobs with a later time are scheduled.
UNION ALL
SELECT 'I1: scheduled, and pending for later', id, format('%s, %s', status, run_at)
FROM jobs WHERE (scheduled AND status <> 'pending') OR (status = 'pending' AND run_at > now() AND NOT scheduled)

-- I2: steps have no gaps from the first (a fork's first is the step of the fork), the last one is the job's and
-- has a state; their epochs never decrease and belong to attempts, one attempt per claim.
UNION ALL
SELECT 'I2: steps without a gap', job_id, format('%s after %s', step, before)
FROM (
    SELECT c.job_id, c.step,
           lag(c.step, 1, coalesce(j.forked_step - 1, 0)) OVER (PARTITION BY c.job_id ORDER BY c.step) AS before
    FROM checkpoints c JOIN jobs j ON j.id = c.job_id
) AS s
WHERE step <> before + 1
UNION ALL
SELECT 'I2: jobs.step is the last step', j.id, format('%s, last %s', j.step, max(c.step))
FROM jobs j LEFT JOIN checkpoints c ON c.job_id = j.id
GROUP BY j.id HAVING j.step <> coalesce(max(c.step), 0)
UNION ALL
SELECT 'I2: the last step has its state', j.id, format('step %s', j.step)
FROM jobs j JOIN checkpoints c ON c.job_id = j.id AND c.step = j.step
WHERE c.state IS NULL
UNION ALL
SELECT 'I2: epochs never decrease', job_id, format('step %s: %s after %s', step, lease_epoch, before)
FROM (SELECT *, lag(lease_epoch, 1, 0) OVER (PARTITION BY job_id ORDER BY step) AS before FROM checkpoints) AS s
WHERE lease_epoch < before
UNION ALL
SELECT 'I2: a step has its attempt', c.job_id, format('step %s of epoch %s', c.step, c.lease_epoch)
FROM checkpoints c JOIN jobs j ON j.id = c.job_id
WHERE c.step IS DISTINCT FROM j.forked_step
  AND NOT EXISTS (SELECT FROM attempts a WHERE a.job_id = c.job_id AND a.lease_epoch = c.lease_epoch)
UNION ALL
SELECT 'I2: one attempt a claim', j.id, format('%s attempts, %s claims', count(a.lease_epoch), j.lease_epoch)
FROM jobs j LEFT JOIN attempts a ON a.job_id = j.id
GROUP BY j.id HAVING count(a.lease_epoch) <> j.lease_epoch
UNION ALL
SELECT 'I2: an attempt is open while its job runs, and only then', j.id, format('%s, %s open', j.status, count(a.job_id))
FROM jobs j LEFT JOIN attempts a ON a.job_id = j.id AND a.ended_at IS NULL
GROUP BY j.id HAVING count(a.job_id) <> (j.status = 'running')::int

-- A job's rows are deleted with it: these tables have no foreign key.
UNION ALL
SELECT 'I2: a row has its job', rows.job_id, rows.of_table
FROM (
    SELECT DISTINCT 'messages' AS of_table, job_id FROM messages
    UNION ALL SELECT DISTINCT 'checkpoints', job_id FROM checkpoints
    UNION ALL SELECT DISTINCT 'llm_requests', job_id FROM llm_requests
    UNION ALL SELECT DISTINCT 'phases', job_id FROM phases
    UNION ALL SELECT DISTINCT 'todos', job_id FROM todos
    UNION ALL SELECT DISTINCT 'replaced_todos', job_id FROM replaced_todos
    UNION ALL SELECT DISTINCT 'file_versions', job_id FROM file_versions
    UNION ALL SELECT DISTINCT 'blobs', job_id FROM blobs
    UNION ALL SELECT DISTINCT 'job_shared_files', job_id FROM job_shared_files
    UNION ALL SELECT DISTINCT 'sources', job_id FROM sources
    UNION ALL SELECT DISTINCT 'citations', job_id FROM citations
    UNION ALL SELECT DISTINCT 'passages', job_id FROM passages
    UNION ALL SELECT DISTINCT 'attempts', job_id FROM attempts
) AS rows
WHERE NOT EXISTS (SELECT FROM jobs j WHERE j.id = rows.job_id)

-- Passages match their sentences and steps, and a completed job's coverage matches its passages.
UNION ALL
SELECT 'a passage''s candidates are its sentences', p.job_id, format('passage %s', p.passage)
FROM passages p
WHERE p.candidates <> jsonb_array_length(p.sentences)
   OR p.candidates_cited <> (SELECT count(*) FROM jsonb_array_elements(p.sentences) s WHERE s ->> 'cited_step' IS NOT NULL)
UNION ALL
SELECT 'a passage is answered after it was read', p.job_id, format('passage %s, %s', p.passage, p.state)
FROM passages p JOIN jobs j ON j.id = p.job_id
WHERE (p.state = 'answered') <> (p.answered_step IS NOT NULL) OR p.answered_step > j.step OR p.cut_step > j.step
   -- Passages that an earlier job has read need not be read again.
   OR p.answered_by IS DISTINCT FROM 'carried'
      AND ((p.state = 'unread') <> (p.read_step IS NULL) OR p.answered_step < p.read_step OR p.read_step > j.step
           OR (p.state <> 'unread' AND octet_length(p.unseen) > 0))
UNION ALL
SELECT 'a passage is carried over from a job that is named', p.job_id, format('passage %s', p.passage)
FROM passages p JOIN jobs j ON j.id = p.job_id
WHERE p.answered_by = 'carried' AND NOT coalesce(j.context ? 'previous_job_id', false)
UNION ALL
SELECT 'a carried passage says what answered it', p.job_id, format('passage %s', p.passage)
FROM passages p WHERE p.answered_by = 'carried' AND p.carried_from IS NULL
UNION ALL
SELECT 'a passage is decided as it is answered', p.job_id, format('passage %s, decided in %s, answered in %s', p.passage,
                                                                 p.decided_step, p.answered_step)
FROM passages p JOIN jobs j ON j.id = p.job_id
WHERE p.decided_step <> p.answered_step OR p.asked_step > j.step
UNION ALL
SELECT 'a decision is of a candidate', p.job_id, format('passage %s, sentence %s', p.passage, d.value ->> 's')
FROM passages p
JOIN jobs j ON j.id = p.job_id
CROSS JOIN LATERAL jsonb_array_elements(p.decisions) AS d
WHERE (d.value ? 'why') = (d.value ? 'in') OR (d.value ->> 'step')::bigint > j.step
   OR NOT EXISTS (SELECT FROM jsonb_array_elements(p.sentences) s WHERE s.value -> 'sentence' = d.value -> 's')
UNION ALL
SELECT 'a recorded passage has nothing open', p.job_id, format('passage %s, sentence %s', p.passage, s.value ->> 'sentence')
FROM passages p
CROSS JOIN LATERAL jsonb_array_elements(p.sentences) AS s
WHERE p.answered_by = 'recorded' AND s.value ->> 'cited_step' IS NULL
  AND NOT EXISTS (SELECT FROM jsonb_array_elements(p.decisions) d
                  WHERE d.value -> 's' = s.value -> 'sentence' AND d.value ? 'why')
UNION ALL
SELECT 'an empty passage has no candidates', p.job_id, format('passage %s has %s', p.passage, p.candidates)
FROM passages p WHERE p.answered_by = 'empty' AND p.candidates > 0
UNION ALL
SELECT 'sentences that are not judged are sentences', p.job_id, format('passage %s, %s of %s', p.passage, p.n_not_judged,
                                                                       p.n_sentences)
FROM passages p WHERE p.n_not_judged < 0 OR p.n_not_judged > p.n_sentences
UNION ALL
-- Of a document that was cut again, the ledger finds the places of older quotes by their words. Whether a quote is
-- verified is in citations: others may write the requirement's row.
SELECT 'a passage counts the requirements that begin in it', p.job_id, format('passage %s, %s', p.passage, p.n_requirements)
FROM passages p
WHERE NOT EXISTS (SELECT FROM passages c JOIN requirement_cache r ON r.job_id = c.job_id AND r.step < c.cut_step
                  WHERE c.job_id = p.job_id)
  AND p.n_requirements <> (
      SELECT count(*) FROM requirement_cache r
      WHERE r.job_id = p.job_id AND r.status <> 'withdrawn' AND r.step IS NOT NULL
        AND EXISTS (SELECT FROM jsonb_array_elements(r.citations) c
                    JOIN citations v ON v.job_id = r.job_id AND v.source = c ->> 'source' AND v.quote = c ->> 'quote'
                    WHERE v.verified AND c ->> 'passage' = p.passage::text))
UNION ALL
SELECT 'a passage without text says why', p.job_id, format('passage %s', p.passage)
FROM passages p WHERE p.chunk_path IS NULL AND coalesce(p.reason, '') = ''
UNION ALL
SELECT 'a page that is not in the text is a passage', s.job_id, format('page %s of %s', u.page, s.path)
FROM sources s CROSS JOIN LATERAL unnest(s.unread_pages) AS u (page)
WHERE EXISTS (SELECT FROM passages p WHERE p.job_id = s.job_id AND p.document = s.path)
  AND NOT EXISTS (
        SELECT FROM passages p
        WHERE p.job_id = s.job_id AND p.document = s.path AND p.chunk_path IS NULL AND p.first_page = u.page)
UNION ALL
SELECT 'a completed job''s coverage is that of its passages', j.id, format('%s in its result', j.result ->> 'coverage')
FROM jobs j
JOIN LATERAL (
    SELECT trunc(count(*) FILTER (WHERE p.state = 'answered')::numeric / greatest(count(*), 1), 4) AS share
    FROM passages p WHERE p.job_id = j.id
) AS c ON true
WHERE j.status = 'completed' AND jsonb_typeof(j.result -> 'coverage') = 'number'
  AND (j.result ->> 'coverage')::numeric <> c.share

-- I3: messages are numbered without gaps up to the checkpoint's count; each tool call has exactly one result, directly
-- after the call and in the calls' order. The last answer may still wait for results if the job did not complete:
-- after those in its checkpoint.
UNION ALL
SELECT 'I3: messages without a gap', j.id, format('%s messages, the last is %s, the next %s', count(m.seq), max(m.seq),
                                                  c.state ->> 'next_seq')
FROM jobs j
JOIN checkpoints c ON c.job_id = j.id AND c.step = j.step
LEFT JOIN messages m ON m.job_id = j.id
GROUP BY j.id, c.state
HAVING count(m.seq) <> coalesce(max(m.seq), 0) OR (c.state ->> 'next_seq')::bigint <> coalesce(max(m.seq), 0) + 1
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
  AND NOT EXISTS (
        SELECT FROM checkpoints k
        WHERE k.job_id = m.job_id AND k.step = j.step AND j.status <> 'completed' AND k.state #>> '{stage,at}' = 'tools'
          AND (k.state #>> '{stage,message_seq}')::bigint = m.seq
          AND (k.state #>> '{stage,calls,answered}')::bigint < c.position)
UNION ALL
SELECT 'I3: no result without its call', r.job_id, format('message %s, result of %s', r.seq, r.tool_call_id)
FROM messages r
LEFT JOIN (
    SELECT m.job_id, m.seq + c.position AS seq, c.call ->> 'id' AS id
    FROM messages m
    CROSS JOIN LATERAL json_array_elements(m.tool_calls) WITH ORDINALITY AS c (call, position)
    WHERE m.role = 'assistant'
) AS calls ON calls.job_id = r.job_id AND calls.seq = r.seq AND calls.id = r.tool_call_id
WHERE r.role = 'tool' AND calls.id IS NULL

-- I4: a requirement is one row, and belongs to a committed step. As in the content key, white space makes no
-- difference, but case and the first quoted place do; rows added by an outside writer have no key and may repeat
-- themselves.
UNION ALL
SELECT 'I4: a requirement once', one.job_id, one.words
FROM (
    SELECT job_id, regexp_replace(btrim(text), '\s+', ' ', 'g') AS words, count(*) AS rows,
           count(DISTINCT CASE
               WHEN citations #>> '{0,from}' IS NULL THEN citations -> 0
               ELSE jsonb_build_array(citations #> '{0,passage}', citations #> '{0,from}') END) AS places
    FROM requirement_cache
    WHERE content_key IS NOT NULL
    GROUP BY 1, 2
) AS one
WHERE one.rows > greatest(one.places, 1)
UNION ALL
SELECT 'I4: a number is of one requirement', job_id, format('r%s of %s', number, count(*))
FROM requirement_cache WHERE number IS NOT NULL GROUP BY job_id, number HAVING count(*) > 1
UNION ALL
SELECT 'I4: a requirement is of a step', r.job_id, format('step %s of %s', r.step, j.step)
FROM requirement_cache r JOIN jobs j ON j.id = r.job_id
WHERE r.step > j.step

-- Changes to requirements belong to committed steps, and withdrawn requirements have a reason.
UNION ALL
SELECT 'I4: a change of a requirement is of a step', c.job_id, format('step %s of %s', c.step, j.step)
FROM requirement_changes c JOIN jobs j ON j.id = c.job_id
WHERE c.step > j.step
UNION ALL
SELECT 'I4: withdrawn, and a reason', r.job_id, r.candidate_id
FROM requirement_cache r
WHERE r.status = 'withdrawn' AND r.step IS NOT NULL
  AND NOT EXISTS (SELECT FROM requirement_changes c
                  WHERE c.job_id = r.job_id AND c.requirement_id = r.id AND c.kind = 'withdrawn')

-- I5 and I7: a call has one permanent result, so none was answered twice or executed again after its commit.
UNION ALL
SELECT 'I7: a call is answered once', job_id, format('%s results of %s', count(*), tool_call_id)
FROM messages WHERE role = 'tool' GROUP BY job_id, tool_call_id HAVING count(*) > 1

-- I6, as far as rows show it: a file's content is present and complete, and no unused content is kept.
UNION ALL
SELECT 'I6: a content equals its hash and size', f.job_id, format('%s of step %s', f.path, f.step)
FROM file_versions f JOIN blobs b ON b.job_id = f.job_id AND b.sha256 = f.sha256
WHERE sha256(b.content) <> f.sha256 OR octet_length(b.content) <> f.size
UNION ALL
SELECT 'I6: a file has its content', f.job_id, format('%s of step %s', f.path, f.step)
FROM file_versions f
WHERE f.sha256 IS NOT NULL AND NOT EXISTS (SELECT FROM blobs b WHERE b.job_id = f.job_id AND b.sha256 = f.sha256)
UNION ALL
SELECT 'I6: a shared content equals its hash and size', s.job_id, s.path
FROM shared_file_versions s
WHERE sha256(s.content) <> s.sha256 OR octet_length(s.content) <> s.size
UNION ALL
SELECT 'I6: a job''s shared files are there', u.job_id, encode(u.set_id, 'hex')
FROM job_shared_files u
WHERE NOT EXISTS (SELECT FROM shared_files f WHERE f.set_id = u.set_id)
UNION ALL
SELECT 'I6: a shared file is no file of the job''s own', s.job_id, s.path
FROM shared_file_versions s JOIN file_versions f ON f.job_id = s.job_id AND f.path = s.path
UNION ALL
SELECT 'I6: a content is kept for a file', b.job_id, encode(b.sha256, 'hex')
FROM blobs b
LEFT JOIN file_versions f ON f.job_id = b.job_id AND f.sha256 = b.sha256
WHERE f.job_id IS NULL
  -- Parts of a text that were staged for a step that was never taken: the document was refused half way.
  AND NOT EXISTS (SELECT FROM sources s WHERE s.job_id = b.job_id AND s.text_path IS NULL)
  -- The same for its passages, if it could not be cut.
  AND NOT EXISTS (SELECT FROM passages p WHERE p.job_id = b.job_id AND p.chunk_path IS NULL)

-- I8: a job's usage is the sum of its requests, in its row and in its checkpoint.
UNION ALL
SELECT 'I8: requests, tokens, cached tokens', j.id,
       format('jobs %s %s %s, sums %s %s %s', j.total_requests, j.total_tokens_used, j.cached_tokens, s.n, s.tokens, s.cached)
FROM jobs j
CROSS JOIN LATERAL (
    SELECT count(*) AS n, coalesce(sum(prompt_tokens + completion_tokens), 0) AS tokens,
           coalesce(sum(cached_tokens), 0) AS cached
    -- An abandoned request counts from the next claim on.
    FROM llm_requests r WHERE r.job_id = j.id AND r.counted
) AS s
WHERE (j.total_requests, j.total_tokens_used, j.cached_tokens) IS DISTINCT FROM (s.n, s.tokens, s.cached)
UNION ALL
SELECT 'I8: the checkpoint''s totals', j.id, c.state ->> 'totals'
FROM jobs j JOIN checkpoints c ON c.job_id = j.id AND c.step = j.step
WHERE (c.state #>> '{totals,requests}', c.state #>> '{totals,tokens}')
      IS DISTINCT FROM (j.total_requests::text, j.total_tokens_used::text)
UNION ALL
SELECT 'I8: a request that failed has its class', job_id, format('step %s: %s', step, coalesce(failure_class, 'none'))
FROM llm_requests WHERE (error IS NULL) <> (failure_class IS NULL)

-- I9: no job runs without a live worker.
UNION ALL
SELECT 'I9: a running job has a live worker', j.id, coalesce(w.heartbeat_at::text, 'no worker')
FROM jobs j LEFT JOIN workers w ON w.id = j.worker_id
WHERE j.status = 'running' AND j.updated_at < now() - make_interval(secs => $1)
  AND (w.id IS NULL OR w.heartbeat_at < now() - make_interval(secs => $1))

-- Phases are numbered without gaps, all but the last are closed, and the job is in the last one.
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
UNION ALL
SELECT 'jobs.phase is the last phase''s', j.id, format('%s, phase %s is %s', j.phase, p.phase_number, p.kind)
FROM jobs j JOIN phases p ON p.job_id = j.id AND p.phase_number = j.phase_number
WHERE j.phase IS DISTINCT FROM p.kind

-- Todos are numbered without gaps, closed with a time, not open in a completed phase, and counted correctly.
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

-- Calls are decided while their job waits for them, and no approval outlives its job.
UNION ALL
SELECT 'a call is pending while its job is in review', a.job_id, format('call %s of a job that is %s', a.call_id, j.status)
FROM approvals a JOIN jobs j ON j.id = a.job_id WHERE a.state = 'pending' AND j.status <> 'review'
UNION ALL
SELECT 'no call is approved of a job that has ended', a.job_id, format('call %s of a job that is %s', a.call_id, j.status)
FROM approvals a JOIN jobs j ON j.id = a.job_id WHERE a.state = 'approved' AND j.completed_at IS NOT NULL
UNION ALL
SELECT 'a call is sent by a step', a.job_id, format('call %s of step %s, asked for in step %s', a.call_id, a.executed_step, a.step)
FROM approvals a JOIN jobs j ON j.id = a.job_id WHERE a.step > j.step OR a.executed_step NOT BETWEEN a.step + 1 AND j.step
UNION ALL
SELECT 'a call is sent once', job_id, format('call %s: %s times', call_id, count(*))
FROM approvals WHERE state = 'executed' GROUP BY job_id, call_id HAVING count(*) > 1

-- Text from outside: the row and the checkpoints agree from which step on the job has held it. A fork has it from its first
-- step on, also where the other job had it earlier.
UNION ALL
SELECT 'untrusted_step is that of the checkpoints', j.id, format('untrusted_step %s, step %s: %s', j.untrusted_step, c.step,
                                                                  coalesce(c.state ->> 'untrusted_step', 'none'))
FROM jobs j JOIN checkpoints c ON c.job_id = j.id
WHERE c.state IS NOT NULL AND coalesce(c.step >= j.untrusted_step, false) <> (c.state ->> 'untrusted_step' IS NOT NULL)
-- A request behind the result of a tool that reads from outside has held its text.
UNION ALL
SELECT 'a request with text from outside sets untrusted_step', j.id, format('untrusted_step %s, request of step %s',
                                                                             j.untrusted_step, min(r.step))
FROM jobs j
JOIN (
    SELECT a.job_id, min(m.step) AS step
    FROM messages a
    CROSS JOIN LATERAL json_array_elements(a.tool_calls) AS c (call)
    JOIN messages m ON m.job_id = a.job_id AND m.role = 'tool' AND m.tool_call_id = c.call ->> 'id'
    WHERE a.role = 'assistant' AND c.call ->> 'name' ~ '^(http_|mcp_|web_search$|fetch_page$)' AND m.content NOT LIKE 'Error: %'
    GROUP BY a.job_id
) AS outside ON outside.job_id = j.id
JOIN llm_requests r ON r.job_id = j.id AND r.step > outside.step AND r.failure_class IS DISTINCT FROM 'abandoned'
GROUP BY j.id HAVING coalesce(j.untrusted_step > min(r.step), true)
-- What is made of such a job has it from its start.
UNION ALL
SELECT 'a fork and a follow-up of an untrusted job are untrusted', made.id, format('made of job %s, untrusted from step %s on',
                                                                                   origin.id, origin.untrusted_step)
FROM jobs made JOIN jobs origin ON origin.id = made.parent_job_id
WHERE made.untrusted_step IS NULL
  AND (origin.untrusted_step <= made.forked_step
       OR origin.untrusted_step IS NOT NULL AND made.idempotency_key = 'on_complete:' || origin.id)

-- What a retry has replaced is in the order of the steps.
UNION ALL
SELECT 'replaced settings are of steps in order', s.job_id, format('until step %s, then until step %s of %s', r.before, r.until, j.step)
FROM job_settings s
JOIN jobs j ON j.id = s.job_id
CROSS JOIN LATERAL (
    SELECT (e.value ->> 'until_step')::bigint AS until,
           lag((e.value ->> 'until_step')::bigint, 1, 0::bigint) OVER (ORDER BY e.ordinality) AS before
    FROM jsonb_array_elements(s.replaced) WITH ORDINALITY AS e
) AS r
WHERE r.until < r.before OR r.until >= j.step

-- No row belongs to an uncommitted step.
UNION ALL
SELECT 'a message is of a step', m.job_id, format('message %s of step %s', m.seq, m.step)
FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.step > j.step
UNION ALL
SELECT 'a file is of a step', f.job_id, format('%s of step %s', f.path, f.step)
FROM file_versions f JOIN jobs j ON j.id = f.job_id WHERE f.step > j.step
UNION ALL
SELECT 'shared files are of a step', u.job_id, format('step %s of %s', u.step, j.step)
FROM job_shared_files u JOIN jobs j ON j.id = u.job_id WHERE u.step > j.step

)
SELECT rule AS "rule!", job_id AS "job_id!", found AS "found!" FROM found ORDER BY rule, job_id
