-- A step's checkpoint is compressed like messages: with pglz it cost the server more and the log as much. Files stay with
-- pglz, which makes them a tenth smaller.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        ALTER TABLE checkpoints ALTER COLUMN state SET COMPRESSION lz4;
    END IF;
END $$;
