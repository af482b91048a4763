-- What triggers cost the three statements that run most: the INSERT of many jobs, the claim, and the step.

-- Jobs inserted together are announced together: a trigger a statement in place of one a row, which took a quarter of
-- the time of a large INSERT. Each job still has its own notification.
CREATE FUNCTION jobs_notify_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('plumbline_jobs', json_build_object('id', id, 'status', status)::text) FROM inserted;
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_notify_inserted AFTER INSERT ON jobs REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION jobs_notify_inserted();
DROP TRIGGER jobs_notify_insert ON jobs;

-- A claim is the one change of status that needs no rule applied: its shape is checked here, and the claim's statement
-- itself takes the reason away that belonged to the status before. Changes of status keep a notification a row: a
-- trigger a statement would run with every step as well.
DROP TRIGGER jobs_change_status ON jobs;
CREATE TRIGGER jobs_change_status BEFORE UPDATE OF status ON jobs
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status
                       AND NOT (OLD.status = 'pending' AND NEW.status = 'running' AND NEW.worker_id IS NOT NULL
                                AND NEW.lease_epoch = OLD.lease_epoch + 1 AND NEW.status_reason IS NULL))
    EXECUTE FUNCTION jobs_change_status();

-- Statements that say themselves when they were made need no trigger to say it.
DROP TRIGGER jobs_touch ON jobs;
CREATE TRIGGER jobs_touch BEFORE UPDATE ON jobs
    FOR EACH ROW WHEN (NEW.updated_at IS NOT DISTINCT FROM OLD.updated_at) EXECUTE FUNCTION jobs_touch();
