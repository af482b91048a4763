-- The workspace's truth: contents stored once by hash, and an append-only list of which path had which content from
-- which step on. The folder on a worker's disk is a mirror of this.

CREATE TABLE blobs (
    job_id  uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    sha256  bytea NOT NULL CHECK (octet_length(sha256) = 32),
    content bytea NOT NULL,
    PRIMARY KEY (job_id, sha256)
);

CREATE TABLE file_versions (
    job_id      uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    path        text NOT NULL,
    step        bigint NOT NULL,
    -- Null: deleted by this step.
    sha256      bytea,
    size        bigint NOT NULL,
    -- Whether the content stands for missing content; decided once, when it is written.
    placeholder boolean NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, path, step),
    FOREIGN KEY (job_id, sha256) REFERENCES blobs (job_id, sha256)
);
-- What changed since a step: the mirror asks this after every commit.
CREATE INDEX file_versions_by_step ON file_versions (job_id, step);

CREATE VIEW workspace_files AS
SELECT job_id, path, size, encode(sha256, 'hex') AS sha256, step, created_at AS updated_at
FROM (
    SELECT DISTINCT ON (job_id, path) job_id, path, size, sha256, step, created_at
    FROM file_versions
    ORDER BY job_id, path, step DESC
) AS latest
WHERE sha256 IS NOT NULL;

-- For people: SELECT convert_from(workspace_file('<job>', 'main_plan.md'), 'UTF8');
CREATE FUNCTION workspace_file(job_id uuid, path text) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT b.content
    FROM (
        SELECT v.job_id, v.sha256
        FROM file_versions v
        WHERE v.job_id = workspace_file.job_id AND v.path = workspace_file.path
        ORDER BY v.step DESC
        LIMIT 1
    ) AS latest
    JOIN blobs b ON b.job_id = latest.job_id AND b.sha256 = latest.sha256
$$;
