-- What a row may hold. A claim once returned everything that users write, so one prompt of 500 MB took gigabytes of every
-- worker that met it. Triggers and no constraints: a check would look at every step of a job, and no old row that is larger
-- could be failed, cancelled or deleted any more. The names are those that clients see as the constraint's.
CREATE FUNCTION jobs_too_large() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the job''s % is larger than %; %', TG_ARGV[0], TG_ARGV[1], TG_ARGV[2]
        USING ERRCODE = 'check_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END $$;

CREATE TRIGGER jobs_prompt_at_most_1_mib BEFORE INSERT OR UPDATE OF prompt ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.prompt) > 1048576)
    EXECUTE FUNCTION jobs_too_large('prompt', '1 MiB', 'give long text as a document (document_path or document_content)');

CREATE TRIGGER jobs_context_at_most_1_mib BEFORE INSERT OR UPDATE OF context ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.context::text) > 1048576)
    EXECUTE FUNCTION jobs_too_large('context', '1 MiB', 'give large data as a document (document_path or document_content)');

CREATE TRIGGER jobs_config_at_most_1_mib BEFORE INSERT OR UPDATE OF config ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.config::text) > 1048576)
    EXECUTE FUNCTION jobs_too_large('config', '1 MiB', 'leave out what the job type sets already');

CREATE TRIGGER jobs_document_content_at_most_256_mib BEFORE INSERT OR UPDATE OF document_content ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.document_content) > 268435456)
    EXECUTE FUNCTION jobs_too_large('document_content', '256 MiB', 'split the document, or put it into the import folder and name it in document_path');

CREATE TRIGGER jobs_document_path_at_most_1_kib BEFORE INSERT OR UPDATE OF document_path ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.document_path) > 1024)
    EXECUTE FUNCTION jobs_too_large('document_path', '1 KiB', 'name a file or folder under the import folder');

CREATE TRIGGER jobs_idempotency_key_at_most_1_kib BEFORE INSERT OR UPDATE OF idempotency_key ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.idempotency_key) > 1024)
    EXECUTE FUNCTION jobs_too_large('idempotency_key', '1 KiB', 'use a shorter key, for instance a digest');

CREATE TRIGGER jobs_document_name_at_most_1_kib BEFORE INSERT OR UPDATE OF context ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.context ->> 'document_name') > 1024)
    EXECUTE FUNCTION jobs_too_large('context.document_name', '1 KiB', 'give the document a shorter name');
