-- A page of a job's steps, newest first, before step $2: the requests of each, its messages and calls (their first $4
-- characters), and the files that changed.
SELECT c.step, c.phase_number, c.phase, c.lease_epoch, c.created_at,
       coalesce((
           SELECT json_agg(json_build_object(
                      'model', r.model, 'purpose', r.purpose, 'prompt_tokens', r.prompt_tokens,
                      'cached_tokens', r.cached_tokens, 'completion_tokens', r.completion_tokens,
                      'duration_ms', r.duration_ms, 'attempt', r.attempt, 'error', r.error) ORDER BY r.created_at, r.id)
           FROM llm_requests r
           WHERE r.job_id = c.job_id AND r.step = c.step
       ), '[]') AS "requests!",
       coalesce((
           SELECT json_agg(json_build_object(
                      'seq', m.seq, 'role', m.role, 'kind', m.kind, 'text', left(m.content, $4),
                      'cut', char_length(m.content) > $4, 'call_id', m.tool_call_id,
                      'calls', coalesce((
                          SELECT json_agg(json_build_object('id', call ->> 'id', 'name', call ->> 'name',
                                                            'arguments', left(call ->> 'arguments', $4)))
                          FROM json_array_elements(m.tool_calls) AS call
                      ), '[]')) ORDER BY m.seq)
           FROM messages m
           WHERE m.job_id = c.job_id AND m.step = c.step AND m.kind <> 'system'
       ), '[]') AS "messages!",
       coalesce((
           SELECT json_agg(json_build_object('path', v.path, 'deleted', v.sha256 IS NULL) ORDER BY v.path)
           FROM (
               SELECT path, sha256 FROM file_versions WHERE job_id = c.job_id AND step = c.step
               UNION ALL
               SELECT path, sha256 FROM shared_file_versions WHERE job_id = c.job_id AND step = c.step
           ) AS v
       ), '[]') AS "files!"
FROM checkpoints c
WHERE c.job_id = $1 AND c.step < coalesce($2, 9223372036854775807)
ORDER BY c.step DESC
LIMIT $3
