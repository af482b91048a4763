-- Files and checkpoints, which every step writes, are compressed like messages: with pglz that was a tenth of what a busy
-- worker's steps cost the server, and the log grows by a fiftieth without it.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        ALTER TABLE blobs ALTER COLUMN content SET COMPRESSION lz4;
        ALTER TABLE checkpoints ALTER COLUMN state SET COMPRESSION lz4;
    END IF;
END $$;
