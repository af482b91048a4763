-- Search by words and by meaning, over workspace files and requirements. The index is built when a job first searches,
-- not when it writes, so that steps do not pay for it. It is keyed by content: the same bytes are indexed once,
-- regardless of their path and of how often they occur. All of it can be rebuilt.
--
-- Only core PostgreSQL is required: embeddings are real[], and without pgvector the worker compares them one by one.
-- Statements that name a type of the extension are built at run time, so that the extension can be added later (CREATE
-- EXTENSION vector) without another migration.

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
        CREATE EXTENSION IF NOT EXISTS vector;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'pgvector is there, but this role may not add it; embeddings are compared without it';
END $$;

-- Contents that have been indexed, including those without text.
CREATE TABLE indexed_blobs (
    job_id     uuid NOT NULL,
    sha256     bytea NOT NULL,
    indexed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, sha256),
    FOREIGN KEY (job_id, sha256) REFERENCES blobs (job_id, sha256) ON DELETE CASCADE
);

-- A search covers one job and ranks all of its matches, so the primary key, which begins with the job, serves it better
-- than one index over the words of all jobs.
CREATE TABLE file_segments (
    job_id     uuid NOT NULL,
    sha256     bytea NOT NULL,
    part       int NOT NULL,
    -- The line of the file on which the segment begins, from 1.
    first_line int NOT NULL,
    text       text NOT NULL,
    words      tsvector NOT NULL,
    PRIMARY KEY (job_id, sha256, part),
    FOREIGN KEY (job_id, sha256) REFERENCES indexed_blobs (job_id, sha256) ON DELETE CASCADE
);

-- Embeddings have length 1, so that the inner product of two is their similarity.
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

-- An embedding is deleted when the requirement's text changes, by any role. SECURITY DEFINER, because workers may not
-- delete embeddings otherwise.
CREATE FUNCTION forget_requirement_embeddings() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM requirement_embeddings e WHERE e.job_id = NEW.job_id AND e.requirement_id = NEW.id;
    RETURN NULL;
END $$;

CREATE TRIGGER forget_requirement_embeddings AFTER UPDATE OF text ON requirement_cache
    FOR EACH ROW WHEN (OLD.text IS DISTINCT FROM NEW.text) EXECUTE FUNCTION forget_requirement_embeddings();

-- Matches any word of a text; plainto_tsquery requires all of them.
CREATE FUNCTION any_word_of(text text) RETURNS tsquery LANGUAGE sql IMMUTABLE AS $$
    SELECT replace(plainto_tsquery('simple', any_word_of.text)::text, '&', '|')::tsquery
$$;

-- The pgvector type for embeddings of a dimension; null if there is none. Up to 2,000 dimensions can be indexed at full
-- precision, up to 4,000 at half precision.
CREATE FUNCTION vector_type(dimension int) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN dimension BETWEEN 2001 AND 4000 AND to_regtype('halfvec') IS NOT NULL THEN format('halfvec(%s)', dimension)
        WHEN dimension BETWEEN 1 AND 16000 AND to_regtype('vector') IS NOT NULL THEN format('vector(%s)', dimension)
    END
$$;

-- Creates the HNSW index for the embeddings of one model if it does not exist; returns whether it exists. Called when a
-- model is first used, so usually with few rows. Meanwhile no embeddings can be added; steps are not blocked.
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
        -- A table lock: one call at a time. Not an advisory lock, because any login may hold it.
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
    -- The index scan continues until it has found enough rows of this job.
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

-- Whether a requirement is compared with those of a job: either it is integrated and of a job of the same login, or it
-- belongs to this job and is not judged yet. A login's documents are not disclosed to other logins.
CREATE FUNCTION is_comparable(requirement requirement_cache, job uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE requirement.status
        WHEN 'integrated' THEN requirement.job_id = job
            OR EXISTS (SELECT FROM jobs o JOIN jobs me ON me.created_by = o.created_by
                       WHERE o.id = requirement.job_id AND me.id = job)
        ELSE requirement.job_id = job AND requirement.status IN ('pending', 'validating')
    END
$$;

-- The requirements nearest to an embedding, by pgvector, with their similarity; see nearest_requirements.sql.
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
