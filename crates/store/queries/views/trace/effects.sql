-- What a page of steps did besides messages: one line per effect. The entries of a replaced todo list are in
-- replaced_todos; a todo counts in the step that wrote it and in the step that closed it.
WITH listed AS (
    SELECT phase_number, position, content, status, created_step, closed_step FROM todos WHERE job_id = $1
    UNION ALL
    SELECT phase_number, position, content, status, created_step, NULL FROM replaced_todos WHERE job_id = $1
)
SELECT step AS "step!", kind AS "kind!", what AS "what!", size
FROM (
    SELECT step, CASE WHEN sha256 IS NULL THEN 'file deleted' ELSE 'file written' END AS kind, path AS what, size
    FROM file_versions
    WHERE job_id = $1
    UNION ALL
    SELECT step, 'file written', path, size FROM shared_file_versions WHERE job_id = $1
    UNION ALL
    SELECT opened_step, 'phase opened', phase_number || ' (' || kind || '): ' || name, NULL FROM phases WHERE job_id = $1
    UNION ALL
    SELECT closed_step, 'phase ' || outcome, phase_number || ' (' || kind || '): ' || name, NULL
    FROM phases
    WHERE job_id = $1 AND outcome IS NOT NULL
    UNION ALL
    SELECT created_step, 'todo written', phase_number || '.' || position || ' ' || content, NULL FROM listed
    UNION ALL
    SELECT closed_step, 'todo ' || status, phase_number || '.' || position || ' ' || content, NULL
    FROM listed
    WHERE closed_step IS NOT NULL
    UNION ALL
    SELECT step, 'citation', id || ' ' || source || coalesce(' page ' || page, ''), NULL FROM citations WHERE job_id = $1
    UNION ALL
    SELECT step, 'requirement', coalesce(candidate_id, id::text) || ' ' || coalesce(name, left(text, 80)), NULL
    FROM requirement_cache
    WHERE job_id = $1
    UNION ALL
    SELECT c.step, 'requirement ' || c.kind, r.candidate_id || ' ' || c.reason, NULL
    FROM requirement_changes c
    JOIN requirement_cache r ON r.job_id = c.job_id AND r.id = c.requirement_id
    WHERE c.job_id = $1
    UNION ALL
    SELECT taken_step, 'feedback', text, NULL FROM feedback WHERE job_id = $1
) AS effects
WHERE step BETWEEN $2 AND $3
ORDER BY step, kind, what
