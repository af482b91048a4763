-- What a step still paid for beyond its rows: the conditions of two triggers, which the server reads anew in every
-- statement that they look at, 4 % of its time for a step.

-- A step writes crash_count, against what was said here before; the sweep adds to it within bounds by itself.
DROP TRIGGER jobs_counts_stay_small ON jobs;
CREATE TRIGGER jobs_counts_stay_small AFTER UPDATE OF attempt, lease_epoch ON jobs
    FOR EACH ROW
    WHEN (NEW.attempt > 1000000000 OR NEW.lease_epoch > 1000000000000000000)
    EXECUTE FUNCTION jobs_refuse();

-- All columns but those of a step, which says itself when it was made.
DROP TRIGGER jobs_touch ON jobs;
CREATE TRIGGER jobs_touch
    BEFORE UPDATE OF
        id, job_type, prompt, document_path, document_content, context, config, priority, run_at, max_attempts,
        idempotency_key, parent_job_id, status, status_reason, attempt, worker_id, lease_epoch, result, error_message,
        error_details, created_at, started_at, completed_at, forked_step, concurrency_key
    ON jobs
    FOR EACH ROW WHEN (NEW.updated_at IS NOT DISTINCT FROM OLD.updated_at) EXECUTE FUNCTION jobs_touch();

-- Feedback counts in a column that a step writes too. The status is named for jobs_touch, and stays what it is: who may
-- steer jobs has no right to updated_at.
CREATE OR REPLACE FUNCTION add_feedback(job uuid, words text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF words IS NOT NULL AND btrim(words) <> '' THEN
        INSERT INTO feedback (job_id, text) VALUES (job, words);
        UPDATE jobs j SET feedback_untaken = j.feedback_untaken + 1, status = j.status WHERE j.id = job;
    END IF;
END $$;
