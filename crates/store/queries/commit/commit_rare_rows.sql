-- The rows that most steps do not have: phases, findings, settings and the like, of the steps of a batch that
-- commit_steps.sql has written. It runs in the same transaction, behind the fence that has locked the jobs' rows.
--
-- $1 has one JSON document per step (commit/rare_rows.rs); $2 to $4 are the kinds with many rows, at the same place in
-- their arrays: the server reads a member of a document twice more than a document. The parts of one statement do not
-- see each other: the caller has merged all changes to the same row.
WITH steps AS MATERIALIZED (
    SELECT s.*, d.citations::json, d.requirements::json, d.passages::json
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS d (document, citations, requirements, passages)
    CROSS JOIN LATERAL json_to_record(d.document::json) AS s (
        job_id uuid, step bigint, settings text, shared_files text, opened_phases json, closed_phases json,
        todo_lists json, todos json, cleared_results json, feedback_read json, sources json, judgements json,
        dropped_passages json, unevidenced_todos json, pruned_checkpoints json)
),
-- The resolved configuration: the job keeps the first one stored, until a retry (job_settings_after_retry).
settings AS (
    INSERT INTO job_settings (job_id, resolved)
    SELECT job_id, settings::jsonb FROM steps WHERE settings IS NOT NULL
    ON CONFLICT (job_id) DO NOTHING
),
-- The set of files that the job shares with others.
shared_files AS (
    INSERT INTO job_shared_files (job_id, set_id, step)
    SELECT job_id, decode(shared_files, 'hex'), step FROM steps WHERE shared_files IS NOT NULL
),
opened_phases AS (
    INSERT INTO phases (job_id, phase_number, kind, name, opened_step, outcome, closed_step, ended_at)
    SELECT s.job_id, p.number, p.kind, p.name, s.step, p.outcome,
           CASE WHEN p.outcome IS NOT NULL THEN s.step END, CASE WHEN p.outcome IS NOT NULL THEN now() END
    FROM steps s
    CROSS JOIN LATERAL json_to_recordset(s.opened_phases) AS p (number int, kind text, name text, outcome text)
),
closed_phases AS (
    UPDATE phases SET outcome = c.outcome, closed_step = s.step, ended_at = now()
    FROM steps s
    CROSS JOIN LATERAL json_to_recordset(s.closed_phases) AS c (number int, outcome text)
    WHERE phases.job_id = s.job_id AND phases.phase_number = c.number
),
-- A new todo list replaces the previous one: rows beyond its end are deleted, the rest is overwritten.
surplus_todos AS (
    DELETE FROM todos
    USING steps s
    CROSS JOIN LATERAL json_to_recordset(s.todo_lists) AS l (phase_number int, length int)
    WHERE todos.job_id = s.job_id AND todos.phase_number = l.phase_number AND todos.position > l.length
),
new_todos AS (
    INSERT INTO todos (job_id, phase_number, position, content, passages, status, notes, created_step, closed_step,
                       completed_at)
    SELECT s.job_id, t.phase_number, t.position, t.content, t.passages, t.status, t.notes, s.step,
           CASE WHEN t.status IN ('completed', 'abandoned') THEN s.step END,
           CASE WHEN t.status = 'completed' THEN now() END
    FROM steps s
    CROSS JOIN LATERAL json_to_recordset(s.todos) AS t (
        phase_number int, position int, content text, passages int[], status text, notes text)
    ON CONFLICT (job_id, phase_number, position) DO UPDATE
    SET content = excluded.content, passages = excluded.passages, status = excluded.status, notes = excluded.notes,
        closed_step = excluded.closed_step, completed_at = excluded.completed_at
),
-- Results whose text is no longer sent to the model.
cleared_results AS (
    UPDATE messages SET cleared_step = s.step
    FROM steps s
    CROSS JOIN LATERAL json_array_elements_text(s.cleared_results) AS c (seq)
    WHERE messages.job_id = s.job_id AND messages.seq = c.seq::bigint AND messages.cleared_step IS NULL
),
-- Feedback that is part of the conversation now.
read_feedback AS (
    UPDATE feedback SET taken_step = s.step
    FROM steps s
    CROSS JOIN LATERAL json_array_elements_text(s.feedback_read) AS f (id)
    WHERE feedback.job_id = s.job_id AND feedback.id = f.id::bigint AND feedback.taken_step IS NULL
),
new_sources AS (
    INSERT INTO sources (job_id, path, size, pages, text_path, warnings, unread_pages, extraction)
    SELECT s.job_id, d.path, d.size, d.pages, d.text_path, d.warnings, d.unread_pages, d.extraction
    FROM steps s
    CROSS JOIN LATERAL json_to_recordset(s.sources) AS d (
        path text, size bigint, pages int, text_path text, warnings text[], unread_pages int[], extraction text)
    ON CONFLICT (job_id, path) DO UPDATE
    SET size = excluded.size, pages = excluded.pages, text_path = excluded.text_path, warnings = excluded.warnings,
        unread_pages = excluded.unread_pages, extraction = excluded.extraction
),
-- The same citation or requirement text twice in a job is one row.
new_citations AS (
    INSERT INTO citations (job_id, id, source, page, page_to, passage, "from", "to", quote, verified, step)
    SELECT s.job_id, c.id, c.source, c.page, c.page_to, c.passage, c."from", c."to", c.quote, c.verified, s.step
    FROM steps s
    CROSS JOIN LATERAL json_to_recordset(s.citations) AS c (
        id text, source text, page int, page_to int, passage int, "from" int, "to" int, quote text, verified boolean)
    ON CONFLICT (job_id, id) DO NOTHING
),
-- A document that is cut again loses the passages that it no longer has.
dropped_passages AS (
    DELETE FROM passages
    USING steps s
    CROSS JOIN LATERAL json_array_elements_text(s.dropped_passages) AS d (passage)
    WHERE passages.job_id = s.job_id AND passages.passage = d.passage::int
),
put_passages AS (
    INSERT INTO passages (job_id, passage, document, ordinal, first_page, last_page, sha256, chunk_path, candidates,
                          candidates_cited, judged, n_sentences, n_not_judged, n_requirements, decisions, state,
                          answered_by, carried_from, read_step, answered_step, decided_step, asked_step, reason, cut_step,
                          blocks, unseen, sentences)
    SELECT s.job_id, p.passage, p.document, p.ordinal, p.first_page, p.last_page, decode(p.sha256, 'hex'), p.chunk_path,
           p.candidates, p.candidates_cited, p.judged, p.n_sentences, p.n_not_judged, p.n_requirements, p.decisions,
           p.state, p.answered_by, p.carried_from, p.read_step, p.answered_step, p.decided_step, p.asked_step, p.reason,
           p.cut_step, decode(p.blocks, 'hex'), decode(p.unseen, 'hex'), p.sentences
    FROM steps s
    CROSS JOIN LATERAL json_to_recordset(s.passages) AS p (
        passage int, document text, ordinal int, first_page int, last_page int, sha256 text, chunk_path text,
        candidates int, candidates_cited int, judged boolean, n_sentences int, n_not_judged int, n_requirements int,
        decisions jsonb, state text, answered_by text, carried_from text, read_step bigint, answered_step bigint,
        decided_step bigint, asked_step bigint, reason text, cut_step bigint, blocks text, unseen text, sentences jsonb)
    ON CONFLICT (job_id, passage) DO UPDATE
    SET document = excluded.document, ordinal = excluded.ordinal, first_page = excluded.first_page,
        last_page = excluded.last_page, sha256 = excluded.sha256, chunk_path = excluded.chunk_path,
        candidates = excluded.candidates, candidates_cited = excluded.candidates_cited, judged = excluded.judged,
        n_sentences = excluded.n_sentences, n_not_judged = excluded.n_not_judged,
        n_requirements = excluded.n_requirements, decisions = excluded.decisions, state = excluded.state,
        answered_by = excluded.answered_by, carried_from = excluded.carried_from, read_step = excluded.read_step,
        answered_step = excluded.answered_step, decided_step = excluded.decided_step, asked_step = excluded.asked_step,
        reason = excluded.reason, cut_step = excluded.cut_step, blocks = excluded.blocks, unseen = excluded.unseen,
        sentences = excluded.sentences
),
unevidenced_todos AS (
    UPDATE todos SET unevidenced = true
    FROM steps s
    CROSS JOIN LATERAL json_to_recordset(s.unevidenced_todos) AS t (phase_number int, position int)
    WHERE todos.job_id = s.job_id AND todos.phase_number = t.phase_number AND todos.position = t.position
),
new_requirements AS (
    INSERT INTO requirement_cache (job_id, id, number, candidate_id, text, name, type, priority, source_document, source_location,
                                   gobd_relevant, gdpr_relevant, citations, mentioned_objects, mentioned_messages,
                                   reasoning, research_notes, confidence, tags, content_key, step)
    SELECT s.job_id, r.id, r.number, r.candidate_id, r.text, r.name, r.type, r.priority, r.source_document, r.source_location,
           r.gobd_relevant, r.gdpr_relevant, r.citations, r.mentioned_objects, r.mentioned_messages,
           r.reasoning, r.research_notes, r.confidence, r.tags, decode(r.content_key_hex, 'hex'), s.step
    FROM steps s
    CROSS JOIN LATERAL json_to_recordset(s.requirements) AS r (
        id uuid, number int, candidate_id text, text text, name text, type text, priority text, source_document text,
        source_location jsonb, gobd_relevant boolean, gdpr_relevant boolean, citations jsonb, mentioned_objects jsonb,
        mentioned_messages jsonb, reasoning text, research_notes text, confidence double precision, tags jsonb,
        content_key_hex text)
    ON CONFLICT (job_id, content_key) WHERE content_key IS NOT NULL DO NOTHING
),
-- Judgements of a validator, each only if its job still holds the row.
judged_requirements AS (
    UPDATE requirement_cache r
    SET status = CASE j.verdict WHEN 'accepted' THEN 'pending' ELSE j.verdict END,
        rejection_reason = CASE j.verdict WHEN 'rejected' THEN j.reason END,
        last_error = CASE j.verdict WHEN 'failed' THEN j.reason END,
        retry_count = retry_count + CASE j.verdict WHEN 'failed' THEN 1 ELSE 0 END,
        graph_node_id = coalesce(j.graph_node_id, r.graph_node_id),
        validation_result = j.validation_result,
        validated_at = now()
    FROM steps s
    CROSS JOIN LATERAL json_to_recordset(s.judgements) AS j (
        id uuid, verdict text, reason text, graph_node_id text, validation_result jsonb)
    WHERE r.id = j.id AND r.validator_job_id = s.job_id AND r.status = 'validating'
)
-- States of the steps between two kept ones, except those that began a phase (commit/checkpoint_retention.rs).
UPDATE checkpoints SET state = NULL
FROM steps s
CROSS JOIN LATERAL json_to_record(s.pruned_checkpoints) AS p (start bigint, "end" bigint)
WHERE checkpoints.job_id = s.job_id AND checkpoints.step > p.start AND checkpoints.step < p."end"
  AND NOT EXISTS (
      SELECT FROM phases WHERE phases.job_id = checkpoints.job_id AND phases.opened_step = checkpoints.step)
