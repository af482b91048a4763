-- What a step pays for beyond its rows.
--
-- The server reads the text of each CHECK of a table anew in every statement that changes a row of it: a quarter of what
-- a step cost it. So the checks of what only workers write go, where no reader is promised their values: the worker's own
-- types have no others.
ALTER TABLE messages DROP CONSTRAINT messages_role_check;
ALTER TABLE checkpoints DROP CONSTRAINT checkpoints_phase_check;
ALTER TABLE blobs DROP CONSTRAINT blobs_sha256_check;
ALTER TABLE todos DROP CONSTRAINT todos_position_check;
ALTER TABLE jobs DROP CONSTRAINT jobs_attempt_check;

-- And what protects the rows of users is checked by triggers that look only where one of these columns is written, which
-- a step never does. Who breaks a rule gets the error of a CHECK of the same name.
CREATE FUNCTION jobs_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'new row for relation "jobs" violates check constraint "%"', TG_NAME
        USING ERRCODE = 'check_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END $$;

ALTER TABLE jobs
    DROP CONSTRAINT jobs_max_attempts_check,
    DROP CONSTRAINT jobs_job_type_is_short,
    DROP CONSTRAINT jobs_ended_has_completed_at,
    DROP CONSTRAINT jobs_running_has_worker;

-- After the row: what the triggers before it make of completed_at and worker_id counts.
CREATE TRIGGER jobs_max_attempts_check AFTER INSERT OR UPDATE OF max_attempts ON jobs
    FOR EACH ROW WHEN (NEW.max_attempts < 1) EXECUTE FUNCTION jobs_refuse();
CREATE TRIGGER jobs_job_type_is_short AFTER INSERT OR UPDATE OF job_type ON jobs
    FOR EACH ROW WHEN (char_length(NEW.job_type) > 200) EXECUTE FUNCTION jobs_refuse();
CREATE TRIGGER jobs_ended_has_completed_at AFTER INSERT OR UPDATE OF status, completed_at ON jobs
    FOR EACH ROW WHEN ((NEW.status IN ('completed', 'failed', 'cancelled')) <> (NEW.completed_at IS NOT NULL))
    EXECUTE FUNCTION jobs_refuse();
CREATE TRIGGER jobs_running_has_worker AFTER INSERT OR UPDATE OF status, worker_id ON jobs
    FOR EACH ROW WHEN ((NEW.status = 'running') <> (NEW.worker_id IS NOT NULL)) EXECUTE FUNCTION jobs_refuse();

-- Messages of more than two kilobytes are compressed with LZ4, where the server was built with it: a tenth more bytes, a
-- fraction of the time. Contents of files stay as they are, because they are what fills the disk.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        ALTER TABLE messages
            ALTER COLUMN content SET COMPRESSION lz4,
            ALTER COLUMN tool_calls SET COMPRESSION lz4,
            ALTER COLUMN extra SET COMPRESSION lz4;
    END IF;
END $$;
