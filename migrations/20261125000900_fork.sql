-- Fork: a new job that continues from a checkpoint of another, with the rows as of that step. Most rows record from
-- which step to which they are valid.

-- Sets numbers to 0, booleans to false and other values to null: resets counters, including those of later versions.
CREATE FUNCTION blank_counters(counters jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_object_agg(key, CASE jsonb_typeof(value)
        WHEN 'number' THEN '0'::jsonb WHEN 'boolean' THEN 'false'::jsonb ELSE 'null'::jsonb END)
    FROM jsonb_each(counters)
$$;

-- The todo entries as of a step, closed only if they were closed by then. Of the versions of an entry, the one that was
-- replaced first after the step counts.
CREATE FUNCTION todos_as_of(job uuid, at_step bigint)
RETURNS TABLE (phase_number int, "position" int, content text, status text, notes text, created_step bigint,
               closed_step bigint, created_at timestamptz, completed_at timestamptz, unevidenced boolean,
               passages int[])
LANGUAGE sql STABLE AS $$
    SELECT DISTINCT ON (t.phase_number, t.position)
           t.phase_number, t.position, t.content, CASE WHEN t.closed_step <= at_step THEN t.status ELSE 'open' END,
           CASE WHEN t.closed_step <= at_step THEN t.notes END, t.created_step,
           CASE WHEN t.closed_step <= at_step THEN t.closed_step END, t.created_at,
           CASE WHEN t.closed_step <= at_step THEN t.completed_at END, t.closed_step <= at_step AND t.unevidenced,
           t.passages
    FROM (
        SELECT r.phase_number, r.position, r.content, r.status, r.notes, r.created_step, r.closed_step, r.created_at,
               r.completed_at, false AS unevidenced, r.passages, r.replaced_step
        FROM replaced_todos r
        WHERE r.job_id = job AND r.replaced_step > at_step
        UNION ALL
        SELECT l.phase_number, l.position, l.content, l.status, l.notes, l.created_step, l.closed_step, l.created_at,
               l.completed_at, l.unevidenced, l.passages, NULL
        FROM todos l
        WHERE l.job_id = job
    ) AS t
    WHERE t.created_step <= at_step
    ORDER BY t.phase_number, t.position, t.replaced_step NULLS LAST
$$;

-- Conversation, phases and todos. Only the current phase has a todo in progress: its first open one.
CREATE FUNCTION fork_plan(source uuid, at_step bigint, state jsonb, target uuid) RETURNS void LANGUAGE sql AS $$
    INSERT INTO messages (job_id, seq, step, phase_number, role, kind, content, tool_calls, tool_call_id, extra, tokens,
                          cleared_step, created_at)
    SELECT target, m.seq, m.step, m.phase_number, m.role, m.kind, m.content, m.tool_calls, m.tool_call_id, m.extra,
           m.tokens, CASE WHEN m.cleared_step <= at_step THEN m.cleared_step END, m.created_at
    FROM messages m
    WHERE m.job_id = source AND m.seq < (state ->> 'next_seq')::bigint;

    INSERT INTO phases (job_id, phase_number, kind, name, outcome, opened_step, closed_step, started_at, ended_at)
    SELECT target, p.phase_number, p.kind, p.name, CASE WHEN p.closed_step <= at_step THEN p.outcome END,
           p.opened_step, CASE WHEN p.closed_step <= at_step THEN p.closed_step END, p.started_at,
           CASE WHEN p.closed_step <= at_step THEN p.ended_at END
    FROM phases p
    WHERE p.job_id = source AND p.opened_step <= at_step;

    INSERT INTO todos (job_id, phase_number, position, content, status, notes, created_step, closed_step, created_at,
                       completed_at, unevidenced, passages)
    SELECT target, t.phase_number, t.position, t.content,
           CASE WHEN t.status <> 'open' THEN t.status
                WHEN t.phase_number = (state #>> '{phase,number}')::int
                 AND row_number() OVER (PARTITION BY t.phase_number, t.status ORDER BY t.position) = 1 THEN 'in_progress'
                ELSE 'pending' END,
           t.notes, t.created_step, t.closed_step, t.created_at, t.completed_at, coalesce(t.unevidenced, false),
           t.passages
    FROM todos_as_of(source, at_step) t;
$$;

-- Requirements as of the step, to be validated again, with new ids that sort like the originals (the first 28
-- characters are an id's time and counter), and the changes made to them by then.
CREATE FUNCTION fork_requirements(source uuid, at_step bigint, target uuid) RETURNS void LANGUAGE sql
SET search_path = public, pg_temp AS $$
    WITH named AS MATERIALIZED (
        SELECT r.id AS old_id, (left(r.id::text, 28) || right(gen_random_uuid()::text, 8))::uuid AS new_id, r.number, r.candidate_id,
               r.text, r.name, r.type, r.priority, r.source_document, r.source_location, r.gobd_relevant, r.gdpr_relevant,
               r.citations, r.mentioned_objects, r.mentioned_messages, r.reasoning, r.research_notes, r.confidence, r.tags,
               r.content_key, r.step, CASE WHEN r.status = 'withdrawn' THEN r.status ELSE 'pending' END AS status
        FROM requirements_at(source, at_step) r
        WHERE r.step IS NOT NULL
    ), copied AS (
        INSERT INTO requirement_cache (job_id, id, number, candidate_id, text, name, type, priority, source_document,
                                       source_location, gobd_relevant, gdpr_relevant, citations, mentioned_objects,
                                       mentioned_messages, reasoning, research_notes, confidence, tags, content_key, step,
                                       status)
        SELECT target, new_id, number, candidate_id, text, name, type, priority, source_document, source_location, gobd_relevant,
               gdpr_relevant, citations, mentioned_objects, mentioned_messages, reasoning, research_notes, confidence, tags,
               content_key, step, status
        FROM named
    )
    INSERT INTO requirement_changes (job_id, requirement_id, step, position, kind, reason, fields, former, created_at)
    SELECT target, n.new_id, c.step, c.position, c.kind, c.reason, c.fields, c.former, c.created_at
    FROM requirement_changes c
    JOIN named n ON n.old_id = c.requirement_id
    WHERE c.job_id = source AND c.step <= at_step;
$$;

-- Passages as of the step. If a passage was read later, what had been shown of it by then is unknown, so all of it
-- counts as unseen. Passages of a document that was cut again later are omitted; the document is prepared again.
-- Passages answered by older rules, which counted quotes, are worked on again.
CREATE FUNCTION fork_passages(source uuid, at_step bigint, target uuid) RETURNS void LANGUAGE sql
SET search_path = public, pg_temp AS $$
    INSERT INTO passages (job_id, passage, document, ordinal, first_page, last_page, sha256, chunk_path, candidates,
                          candidates_cited, judged, n_sentences, n_not_judged, decisions, state, answered_by, carried_from,
                          read_step, answered_step, decided_step, asked_step, reason, cut_step, blocks, unseen, sentences)
    SELECT target, p.passage, p.document, p.ordinal, p.first_page, p.last_page, p.sha256, p.chunk_path, p.candidates,
           was.cited, p.judged, p.n_sentences, p.n_not_judged, was.decisions, was.state,
           CASE WHEN was.state = 'answered' THEN p.answered_by END,
           CASE WHEN was.state = 'answered' THEN p.carried_from
                WHEN p.answered_step <= at_step THEN coalesce(p.carried_from, p.answered_by) END,
           CASE WHEN p.read_step <= at_step THEN p.read_step END,
           CASE WHEN was.state = 'answered' THEN p.answered_step END,
           CASE WHEN was.state = 'answered' THEN p.decided_step END,
           CASE WHEN p.asked_step <= at_step THEN p.asked_step END,
           CASE WHEN p.chunk_path IS NULL OR was.state = 'answered' THEN p.reason END,
           p.cut_step, p.blocks, CASE WHEN p.read_step <= at_step THEN p.unseen ELSE p.blocks END, was.sentences
    FROM passages p
    CROSS JOIN LATERAL (
        SELECT CASE WHEN p.decided_step <= at_step THEN 'answered' WHEN p.read_step <= at_step THEN 'read'
                    ELSE 'unread' END AS state,
               (SELECT coalesce(jsonb_agg(d.value ORDER BY d.ordinality), '[]')
                FROM jsonb_array_elements(p.decisions) WITH ORDINALITY AS d
                WHERE (d.value ->> 'step')::bigint <= at_step) AS decisions,
               count(*) FILTER (WHERE (s.value ->> 'cited_step')::bigint <= at_step) AS cited,
               coalesce(jsonb_agg(s.value - CASE WHEN (s.value ->> 'cited_step')::bigint <= at_step THEN '{}'
                                                 ELSE ARRAY['cited_step'] END
                                          - CASE WHEN (s.value ->> 'seen_step')::bigint <= at_step THEN '{}'
                                                 ELSE ARRAY['seen_step'] END ORDER BY s.ordinality), '[]') AS sentences
        FROM jsonb_array_elements(p.sentences) WITH ORDINALITY AS s
    ) AS was
    WHERE p.job_id = source AND p.cut_step <= at_step;

    SELECT count_requirements_of_passages(ARRAY[target]);
$$;

-- Workspace and findings: of each file only the version as of the step, of each document only what was known by then.
CREATE FUNCTION fork_findings(source uuid, at_step bigint, target uuid) RETURNS void LANGUAGE sql
SET search_path = public, pg_temp AS $$
    INSERT INTO blobs (job_id, sha256, content)
    SELECT target, b.sha256, b.content
    FROM blobs b
    WHERE b.job_id = source AND b.sha256 IN (
        SELECT DISTINCT ON (v.path) v.sha256
        FROM file_versions v
        WHERE v.job_id = source AND v.step <= at_step
        ORDER BY v.path, v.step DESC);

    INSERT INTO file_versions (job_id, path, step, sha256, size, placeholder, created_at)
    SELECT target, latest.path, latest.step, latest.sha256, latest.size, latest.placeholder, latest.created_at
    FROM (
        SELECT DISTINCT ON (v.path) v.*
        FROM file_versions v
        WHERE v.job_id = source AND v.step <= at_step
        ORDER BY v.path, v.step DESC
    ) AS latest
    WHERE latest.sha256 IS NOT NULL;

    INSERT INTO job_shared_files (job_id, set_id, step, created_at)
    SELECT target, u.set_id, u.step, u.created_at
    FROM job_shared_files u
    WHERE u.job_id = source AND u.step <= at_step;

    -- A document that could not be obtained has no file. Extraction results are copied if the text existed by then.
    INSERT INTO sources (job_id, path, size, pages, text_path, warnings, unread_pages, extraction)
    SELECT target, s.path, s.size, s.pages, t.path,
           CASE WHEN s.text_path IS NOT NULL AND t.path IS NULL THEN '{}' ELSE s.warnings END,
           CASE WHEN s.text_path IS NOT NULL AND t.path IS NULL THEN '{}' ELSE s.unread_pages END,
           CASE WHEN t.path IS NOT NULL THEN s.extraction END
    FROM sources s
    LEFT JOIN file_versions f ON f.job_id = target AND f.path = s.path
    LEFT JOIN file_versions t ON t.job_id = target AND t.path = s.text_path
    WHERE s.job_id = source
      AND (f.path IS NOT NULL OR NOT EXISTS (SELECT FROM file_versions v WHERE v.job_id = source AND v.path = s.path));

    INSERT INTO citations (job_id, id, source, page, page_to, passage, "from", "to", quote, verified, step)
    SELECT target, c.id, c.source, c.page, c.page_to, c.passage, c."from", c."to", c.quote, c.verified, c.step
    FROM citations c
    WHERE c.job_id = fork_findings.source AND c.step <= at_step;

    SELECT fork_requirements(source, at_step, target);
    SELECT fork_passages(source, at_step, target);
$$;

-- Why a step has no checkpoint from which a job can be forked, and which steps have one.
CREATE FUNCTION fork_refusal(job uuid, at_step bigint) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN max(c.step) IS NULL THEN format('job %s has no checkpoint yet: fork it once it has taken a step', job)
        WHEN at_step NOT BETWEEN min(c.step) AND max(c.step)
            THEN format('job %s has no checkpoint of step %s: its steps are %s to %s', job, at_step, min(c.step),
                        max(c.step))
        ELSE format('job %s keeps no state of step %s any more: fork it at step %s or %s', job, at_step,
                    max(c.step) FILTER (WHERE c.state IS NOT NULL AND c.step < at_step),
                    min(c.step) FILTER (WHERE c.state IS NOT NULL AND c.step > at_step))
    END
    FROM checkpoints c
    WHERE c.job_id = job
$$;

-- A new pending job that continues from a checkpoint of any job, including a running one. It counts its requests, cost
-- and time from zero. The row lock delays the next step of the source during the copy.
CREATE FUNCTION fork_job(id uuid, step bigint) RETURNS uuid LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    origin jobs;
    at_checkpoint checkpoints;
    target uuid := uuid_v7();
BEGIN
    SELECT * INTO origin FROM jobs j WHERE j.id = fork_job.id FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no job %', coalesce(fork_job.id::text, 'null') USING ERRCODE = 'no_data_found';
    END IF;
    SELECT * INTO at_checkpoint FROM checkpoints c
    WHERE c.job_id = fork_job.id AND c.step = fork_job.step AND c.state IS NOT NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION '%', fork_refusal(fork_job.id, fork_job.step) USING ERRCODE = 'invalid_parameter_value';
    END IF;

    INSERT INTO jobs (id, job_type, prompt, document_path, document_content, context, config, priority, max_attempts,
                      parent_job_id, forked_step, status_reason, step, phase_number, phase, phase_name,
                      untrusted_step)
    VALUES (target, origin.job_type, origin.prompt, origin.document_path, origin.document_content, origin.context,
            origin.config, origin.priority, origin.max_attempts, origin.id, at_checkpoint.step,
            format('forked from job %s at step %s', origin.id, at_checkpoint.step), at_checkpoint.step,
            at_checkpoint.phase_number, at_checkpoint.phase, at_checkpoint.state #>> '{phase,name}',
            CASE WHEN origin.untrusted_step <= at_checkpoint.step THEN at_checkpoint.step END);
    INSERT INTO job_settings (job_id, resolved)
    SELECT target, coalesce(
        (SELECT r.value -> 'resolved'
         FROM jsonb_array_elements(s.replaced) WITH ORDINALITY AS r
         WHERE (r.value ->> 'until_step')::bigint >= at_checkpoint.step
         ORDER BY r.ordinality
         LIMIT 1), s.resolved)
    FROM job_settings s
    WHERE s.job_id = origin.id;
    PERFORM fork_plan(origin.id, at_checkpoint.step, at_checkpoint.state, target);
    PERFORM fork_findings(origin.id, at_checkpoint.step, target);
    INSERT INTO checkpoints (job_id, step, phase_number, phase, state, lease_epoch)
    VALUES (target, at_checkpoint.step, at_checkpoint.phase_number, at_checkpoint.phase,
            at_checkpoint.state || jsonb_build_object(
                'totals', blank_counters(at_checkpoint.state -> 'totals'),
                'retry', blank_counters(at_checkpoint.state -> 'retry'),
                'started_at', now()), 0);
    -- Approval of a call is requested again, even if the source job has made the call.
    UPDATE checkpoints c
    SET state = c.state #- '{stage,calls,dispatched}'
    WHERE c.job_id = target
      AND EXISTS (SELECT FROM approvals a WHERE a.job_id = origin.id AND a.executed_step = at_checkpoint.step);
    UPDATE jobs j
    SET todos_total = now_open.total, todos_done = now_open.done, current_todo = now_open.current
    FROM (
        SELECT count(*) AS total, count(*) FILTER (WHERE t.status = 'completed') AS done,
               max(t.content) FILTER (WHERE t.status = 'in_progress') AS current
        FROM todos t
        WHERE t.job_id = target AND t.phase_number = at_checkpoint.phase_number
    ) AS now_open
    WHERE j.id = target;
    RETURN target;
END $$;
COMMENT ON FUNCTION fork_job(uuid, bigint) IS 'A new pending job that continues from a checkpoint of this one; returns its id.';
