-- What a step still paid for beyond its rows: the texts of two CHECKs and of two triggers' conditions, which the server
-- reads anew in every statement that changes a job, 7 % of its time for a step.
--
-- The values of status are refused where a status is written. The phase is a worker's column, like the counts: it is
-- refused where a row is inserted, and that it is the phase of the last checkpoint is an invariant (doctor --invariants).
ALTER TABLE jobs
    DROP CONSTRAINT jobs_status_check,
    DROP CONSTRAINT jobs_phase_check;
CREATE TRIGGER jobs_status_check AFTER INSERT OR UPDATE OF status ON jobs
    FOR EACH ROW
    WHEN (NEW.status NOT IN ('pending', 'running', 'paused', 'review', 'completed', 'failed', 'cancelled'))
    EXECUTE FUNCTION jobs_refuse();
CREATE TRIGGER jobs_phase_check AFTER INSERT ON jobs
    FOR EACH ROW WHEN (NEW.phase NOT IN ('strategic', 'tactical')) EXECUTE FUNCTION jobs_refuse();

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

-- Feedback counts in a column that a step writes too.
CREATE OR REPLACE FUNCTION add_feedback(job uuid, words text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF words IS NOT NULL AND btrim(words) <> '' THEN
        INSERT INTO feedback (job_id, text) VALUES (job, words);
        UPDATE jobs j SET feedback_untaken = j.feedback_untaken + 1, updated_at = now() WHERE j.id = job;
    END IF;
END $$;
