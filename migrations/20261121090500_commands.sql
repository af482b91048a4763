-- What users call. Each command locks the job's row, says no with the job and its present status, or returns the new
-- status. Parameters carry the names of the public interface, hence the qualified references.

CREATE FUNCTION enqueue_job(
    prompt text,
    job_type text DEFAULT 'creator',
    context jsonb DEFAULT '{}',
    document_name text DEFAULT NULL,
    document_content bytea DEFAULT NULL,
    priority int DEFAULT 0,
    run_at timestamptz DEFAULT now(),
    idempotency_key text DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    full_context jsonb := coalesce(enqueue_job.context, '{}')
        || CASE WHEN document_name IS NULL THEN '{}' ELSE jsonb_build_object('document_name', document_name) END;
    found_id uuid;
BEGIN
    LOOP
        INSERT INTO jobs (prompt, job_type, context, document_content, priority, run_at, idempotency_key)
        VALUES (enqueue_job.prompt, coalesce(enqueue_job.job_type, 'creator'), full_context,
                enqueue_job.document_content, coalesce(enqueue_job.priority, 0),
                coalesce(enqueue_job.run_at, now()), enqueue_job.idempotency_key)
        ON CONFLICT (job_type, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
        RETURNING id INTO found_id;
        EXIT WHEN found_id IS NOT NULL;
        SELECT j.id INTO found_id FROM jobs j
        WHERE j.job_type = coalesce(enqueue_job.job_type, 'creator')
          AND j.idempotency_key = enqueue_job.idempotency_key;
        -- Not found: the other job was deleted between the two statements, so insert again.
        EXIT WHEN found_id IS NOT NULL;
    END LOOP;
    RETURN found_id;
END $$;

-- Locks the row and returns its status, or refuses when the status is not among those the command works on.
CREATE FUNCTION job_status_for(command text, job uuid, works_on text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    present text;
BEGIN
    SELECT j.status INTO present FROM jobs j WHERE j.id = job FOR UPDATE;
    IF present IS NULL THEN
        RAISE EXCEPTION 'there is no job %', coalesce(job::text, 'null') USING ERRCODE = 'no_data_found';
    END IF;
    IF present <> ALL (works_on) THEN
        RAISE EXCEPTION 'job % is %: % works on a job that is %', job, present, command,
            array_to_string(works_on, ' or ') USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RETURN present;
END $$;

CREATE FUNCTION cancel_job(id uuid) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM job_status_for('cancel_job', cancel_job.id, ARRAY['pending', 'running', 'paused', 'review']);
    UPDATE jobs j SET status = 'cancelled' WHERE j.id = cancel_job.id;
    RETURN 'cancelled';
END $$;

CREATE FUNCTION pause_job(id uuid) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM job_status_for('pause_job', pause_job.id, ARRAY['pending', 'running']);
    UPDATE jobs j SET status = 'paused', status_reason = 'paused by a user' WHERE j.id = pause_job.id;
    RETURN 'paused';
END $$;

-- Feedback of nothing but spaces is no feedback.
CREATE FUNCTION add_feedback(job uuid, words text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF words IS NOT NULL AND btrim(words) <> '' THEN
        INSERT INTO feedback (job_id, text) VALUES (job, words);
        UPDATE jobs j SET feedback_untaken = j.feedback_untaken + 1 WHERE j.id = job;
    END IF;
END $$;

CREATE FUNCTION resume_job(id uuid, feedback text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM job_status_for('resume_job', resume_job.id, ARRAY['paused', 'review']);
    PERFORM add_feedback(resume_job.id, resume_job.feedback);
    UPDATE jobs j SET status = 'pending', run_at = now() WHERE j.id = resume_job.id;
    RETURN 'pending';
END $$;

-- Goes on from the last checkpoint, with attempts and crashes counted anew.
CREATE FUNCTION retry_job(id uuid) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM job_status_for('retry_job', retry_job.id, ARRAY['failed', 'cancelled']);
    PERFORM set_config('plumbline.command', retry_job.id::text, true);
    UPDATE jobs j
    SET status = 'pending', run_at = now(), attempt = 0, crash_count = 0, error_message = NULL, error_details = NULL
    WHERE j.id = retry_job.id;
    PERFORM set_config('plumbline.command', '', true);
    RETURN 'pending';
END $$;

CREATE FUNCTION approve_job(id uuid) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM job_status_for('approve_job', approve_job.id, ARRAY['review']);
    PERFORM set_config('plumbline.command', approve_job.id::text, true);
    UPDATE jobs j SET status = 'completed' WHERE j.id = approve_job.id;
    PERFORM set_config('plumbline.command', '', true);
    RETURN 'completed';
END $$;

-- A running job takes the words in at its next step; a job in review is put back to work by them.
CREATE FUNCTION send_feedback(id uuid, text text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    present text;
BEGIN
    present := job_status_for('send_feedback', send_feedback.id, ARRAY['pending', 'running', 'paused', 'review']);
    IF btrim(coalesce(send_feedback.text, '')) = '' THEN
        RAISE EXCEPTION 'job % is %: send_feedback needs a text', send_feedback.id, present
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM add_feedback(send_feedback.id, send_feedback.text);
    IF present = 'review' THEN
        UPDATE jobs j SET status = 'pending', run_at = now() WHERE j.id = send_feedback.id;
        present := 'pending';
    END IF;
    RETURN present;
END $$;
