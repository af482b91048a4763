-- Phases and todo lists of a step. A list that is put replaces the one before: rows beyond its end go, the rest is
-- overwritten. The caller has folded moves of a list put in the same step into the list, so no row is written twice.
WITH opened AS (
    INSERT INTO phases (job_id, phase_number, kind, name, opened_step, outcome, closed_step, ended_at)
    SELECT $1, p.number, p.kind, p.name, $2, p.outcome,
           CASE WHEN p.outcome IS NOT NULL THEN $2::bigint END, CASE WHEN p.outcome IS NOT NULL THEN now() END
    FROM json_to_recordset($3::text::json) AS p (number int, kind text, name text, outcome text)
), closed AS (
    UPDATE phases SET outcome = c.outcome, closed_step = $2, ended_at = now()
    FROM json_to_recordset($4::text::json) AS c (number int, outcome text)
    WHERE phases.job_id = $1 AND phases.phase_number = c.number
), shortened AS (
    DELETE FROM todos USING json_to_recordset($5::text::json) AS l (phase_number int, length int)
    WHERE todos.job_id = $1 AND todos.phase_number = l.phase_number AND todos.position > l.length
)
INSERT INTO todos (job_id, phase_number, position, content, status, notes, created_step, closed_step, completed_at)
SELECT $1, t.phase_number, t.position, t.content, t.status, t.notes, $2,
       CASE WHEN t.status IN ('completed', 'abandoned') THEN $2::bigint END,
       CASE WHEN t.status = 'completed' THEN now() END
FROM json_to_recordset($6::text::json) AS t (
    phase_number int, position int, content text, status text, notes text)
ON CONFLICT (job_id, phase_number, position) DO UPDATE
SET content = excluded.content, status = excluded.status, notes = excluded.notes,
    closed_step = excluded.closed_step, completed_at = excluded.completed_at
