-- A job's settings hold its prompts: compressing them with pglz was most of what its first step cost the server.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        ALTER TABLE job_settings ALTER COLUMN resolved SET COMPRESSION lz4;
    END IF;
END $$;
