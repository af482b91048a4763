-- Search: by words and by meaning, over the texts of a workspace and over requirements. It is made when a job first searches,
-- not when it writes, so that a step costs nothing for it, and it is keyed by content: the same bytes are indexed once,
-- whatever their path and however often they come back. It holds nothing that could not be made anew.
--
-- Only core PostgreSQL is needed: embeddings are real[], and without pgvector they are compared by the worker, one by one.
-- All that names a type of the extension is put together when it runs, so that it may be added later (CREATE EXTENSION
-- vector) and nothing has to be migrated again.

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
        CREATE EXTENSION IF NOT EXISTS vector;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'pgvector is there, but this role may not add it; embeddings are compared without it';
END $$;

-- Contents that are in the index, those without any text included.
CREATE TABLE indexed_blobs (
    job_id     uuid NOT NULL,
    sha256     bytea NOT NULL,
    indexed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, sha256),
    FOREIGN KEY (job_id, sha256) REFERENCES blobs (job_id, sha256) ON DELETE CASCADE
);

-- A search is always within one job and ranks all of its matches, so the key by job serves it better than one index over the
-- words of all jobs would.
CREATE TABLE file_segments (
    job_id     uuid NOT NULL,
    sha256     bytea NOT NULL,
    part       int NOT NULL,
    -- The line of the file it begins on, from 1.
    first_line int NOT NULL,
    text       text NOT NULL,
    words      tsvector NOT NULL,
    PRIMARY KEY (job_id, sha256, part),
    FOREIGN KEY (job_id, sha256) REFERENCES indexed_blobs (job_id, sha256) ON DELETE CASCADE
);

-- Embeddings are of length 1, so that a product of two is their likeness.
CREATE TABLE segment_embeddings (
    job_id    uuid NOT NULL,
    sha256    bytea NOT NULL,
    part      int NOT NULL,
    model     text NOT NULL,
    embedding real[] NOT NULL,
    PRIMARY KEY (job_id, sha256, part, model),
    FOREIGN KEY (job_id, sha256, part) REFERENCES file_segments (job_id, sha256, part) ON DELETE CASCADE
);

CREATE TABLE requirement_embeddings (
    job_id         uuid NOT NULL,
    requirement_id uuid NOT NULL,
    model          text NOT NULL,
    embedding      real[] NOT NULL,
    PRIMARY KEY (job_id, requirement_id, model),
    FOREIGN KEY (job_id, requirement_id) REFERENCES requirement_cache (job_id, id) ON DELETE CASCADE
);

-- Other words mean something else, whoever says them: a worker may forget an embedding, and nothing besides.
CREATE FUNCTION forget_requirement_embeddings() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM requirement_embeddings e WHERE e.job_id = NEW.job_id AND e.requirement_id = NEW.id;
    RETURN NULL;
END $$;

CREATE TRIGGER forget_requirement_embeddings AFTER UPDATE OF text ON requirement_cache
    FOR EACH ROW WHEN (OLD.text IS DISTINCT FROM NEW.text) EXECUTE FUNCTION forget_requirement_embeddings();

-- Any of a text's words. plainto_tsquery asks for all of them.
CREATE FUNCTION any_word_of(text text) RETURNS tsquery LANGUAGE sql IMMUTABLE AS $$
    SELECT replace(plainto_tsquery('simple', any_word_of.text)::text, '&', '|')::tsquery
$$;

-- The extension's type for embeddings of so many numbers; null where there is none. Up to 2,000 numbers can be indexed at
-- full precision, up to 4,000 at half.
CREATE FUNCTION vector_type(dimension int) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN dimension BETWEEN 2001 AND 4000 AND to_regtype('halfvec') IS NOT NULL THEN format('halfvec(%s)', dimension)
        WHEN dimension BETWEEN 1 AND 16000 AND to_regtype('vector') IS NOT NULL THEN format('vector(%s)', dimension)
    END
$$;

-- Makes the HNSW index for the embeddings of one model unless it is there; says whether it is. Done when a model is first
-- used, so ordinarily on few rows; until it is done nobody adds embeddings, and steps go on.
CREATE FUNCTION index_embeddings(of_table text, model text, dimension int) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    kind text := vector_type(dimension);
    index_name text := left(of_table, 24) || '_hnsw_' || left(md5(model || ' ' || dimension), 16);
BEGIN
    IF of_table NOT IN ('segment_embeddings', 'requirement_embeddings') THEN
        RAISE EXCEPTION 'index_embeddings: % holds no embeddings', of_table;
    END IF;
    IF kind IS NULL OR dimension > 4000 OR (dimension > 2000 AND kind LIKE 'vector%') THEN
        RETURN false;
    END IF;
    IF to_regclass(quote_ident(index_name)) IS NULL THEN
        -- One at a time. Not by an advisory lock, which any login may hold.
        EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', of_table);
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS %I ON %I USING hnsw ((embedding::%s) %s_ip_ops) WHERE model = %L AND cardinality(embedding) = %s',
            index_name, of_table, kind, split_part(kind, '(', 1), model, dimension);
    END IF;
    RETURN true;
END $$;

-- The segments of a job's files nearest to an embedding, by pgvector; see nearest_segments.sql.
CREATE FUNCTION nearest_segments(job uuid, model text, wanted real[], paths text[], most bigint)
    RETURNS TABLE (path text, first_line int, text text) LANGUAGE plpgsql AS $$
DECLARE
    kind text := vector_type(cardinality(wanted));
BEGIN
    -- An index walk goes on until enough rows are of this job.
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true);
    RETURN QUERY EXECUTE format($q$
        WITH present AS (
            SELECT latest.sha256, min(latest.path) AS path
            FROM (
                SELECT DISTINCT ON (v.path) v.path, v.sha256
                FROM file_versions v
                WHERE v.job_id = $1 AND v.path = ANY ($3)
                ORDER BY v.path, v.step DESC
            ) AS latest
            GROUP BY latest.sha256
        ), near AS (
            SELECT present.path, e.sha256, e.part, e.embedding::%1$s <#> $2::%1$s AS distance
            FROM segment_embeddings e
            JOIN present ON present.sha256 = e.sha256
            WHERE e.job_id = $1 AND e.model = %2$L AND cardinality(e.embedding) = %3$s
            ORDER BY e.embedding::%1$s <#> $2::%1$s
            LIMIT $4
        )
        SELECT near.path, p.first_line, p.text
        FROM near
        JOIN file_segments p ON p.job_id = $1 AND p.sha256 = near.sha256 AND p.part = near.part
        ORDER BY near.distance, near.path, near.part
    $q$, kind, model, cardinality(wanted)) USING job, wanted, paths, most;
END $$;

-- Whether a requirement is one that others are compared with: an integrated one of a job of the same login as this one, or
-- one of this job that is not judged yet. What other logins' documents say is nobody else's to read.
CREATE FUNCTION is_comparable(requirement requirement_cache, job uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE requirement.status
        WHEN 'integrated' THEN requirement.job_id = job
            OR EXISTS (SELECT FROM jobs o JOIN jobs me ON me.created_by = o.created_by
                       WHERE o.id = requirement.job_id AND me.id = job)
        ELSE requirement.job_id = job AND requirement.status IN ('pending', 'validating')
    END
$$;

-- The requirements nearest to an embedding, by pgvector, with their likeness; see nearest_requirements.sql.
CREATE FUNCTION nearest_requirements(job uuid, model text, wanted real[], most bigint)
    RETURNS TABLE (job_id uuid, id uuid, likeness double precision) LANGUAGE plpgsql AS $$
DECLARE
    kind text := vector_type(cardinality(wanted));
BEGIN
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true);
    RETURN QUERY EXECUTE format($q$
        SELECT e.job_id, e.requirement_id, -(e.embedding::%1$s <#> $2::%1$s)
        FROM requirement_embeddings e
        JOIN requirement_cache r ON r.job_id = e.job_id AND r.id = e.requirement_id
        WHERE e.model = %2$L AND cardinality(e.embedding) = %3$s AND is_comparable(r, $1)
        ORDER BY e.embedding::%1$s <#> $2::%1$s
        LIMIT $3
    $q$, kind, model, cardinality(wanted)) USING job, wanted, most;
END $$;
