-- The source of truth of workspaces: file contents, stored once by hash; an append-only list of file versions (path,
-- content and the step from which it is valid); and the documents among the files. The folder on a worker's disk is a
-- mirror of it.

CREATE TABLE blobs (
    job_id  uuid NOT NULL,
    sha256  bytea NOT NULL CHECK (octet_length(sha256) = 32),
    content bytea NOT NULL,
    PRIMARY KEY (job_id, sha256)
);
COMMENT ON TABLE blobs IS 'Contents of a job''s files.';

CREATE TABLE file_versions (
    job_id      uuid NOT NULL,
    path        text NOT NULL,
    step        bigint NOT NULL,
    -- Null if the step deleted the file.
    sha256      bytea,
    size        bigint NOT NULL,
    -- Whether the content is a placeholder for missing content; decided once, when it is written.
    placeholder boolean NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, path, step)
);
COMMENT ON TABLE file_versions IS 'Which path had which content from which step on; workspace_files has the present ones.';
-- For the changes since a step, which the mirror reads after every commit.
CREATE INDEX file_versions_by_step ON file_versions (job_id, step);

-- Files that are identical in many jobs, the documentation of their tools, are stored once. A job references its set of
-- these files, and the step at which it got the set; a set never changes, and jobs do not write to its paths. Sets are
-- kept after their jobs are deleted: there is one per release and set of bound tools, about 100 KB.
CREATE TABLE shared_files (
    -- SHA-256 of the set's paths and hashes.
    set_id      bytea NOT NULL,
    path        text NOT NULL,
    sha256      bytea NOT NULL,
    size        bigint NOT NULL,
    placeholder boolean NOT NULL,
    content     bytea NOT NULL,
    PRIMARY KEY (set_id, path)
);

CREATE TABLE job_shared_files (
    job_id     uuid PRIMARY KEY,
    set_id     bytea NOT NULL,
    step       bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sources (
    job_id       uuid NOT NULL,
    path         text NOT NULL,
    size         bigint NOT NULL,
    pages        int,
    text_path    text,
    warnings     text[] NOT NULL DEFAULT '{}',
    unread_pages int[] NOT NULL DEFAULT '{}',
    extraction   text CHECK (extraction IS NULL OR text_path IS NOT NULL),
    PRIMARY KEY (job_id, path)
);
COMMENT ON TABLE sources IS 'The documents of a job; text_path is the file with the extracted text.';
COMMENT ON COLUMN sources.warnings IS 'What of the document is not in its text, or was taken out of it, with page and first words.';
COMMENT ON COLUMN sources.unread_pages IS 'Pages that show something most of which is not in the text; each is a passage.';
COMMENT ON COLUMN sources.extraction IS 'The version of the text extraction: another version may cut and number the same bytes differently, so a job over the next version of the document reads them again.';

-- The coverage ledger: which passages of its documents a job has read, and what answered them. Each change of a passage
-- records its step, so that a fork can copy the state as of a step.
CREATE TABLE passages (
    job_id           uuid NOT NULL,
    passage          int NOT NULL,
    document         text NOT NULL,
    ordinal          int NOT NULL CHECK (ordinal >= 1),
    first_page       int,
    last_page        int,
    sha256           bytea NOT NULL CHECK (octet_length(sha256) = 32),
    chunk_path       text,
    candidates       int NOT NULL,
    candidates_cited int NOT NULL,
    judged           boolean NOT NULL DEFAULT true,
    n_sentences      int NOT NULL DEFAULT 0,
    n_not_judged     int NOT NULL DEFAULT 0,
    decisions        jsonb NOT NULL DEFAULT '[]',
    state            text NOT NULL CHECK (state IN ('unread', 'read', 'answered')),
    answered_by      text CHECK (answered_by IN ('recorded', 'citation', 'empty', 'closed', 'carried')),
    carried_from     text CHECK (carried_from IN ('recorded', 'citation', 'empty', 'closed', 'carried')),
    read_step        bigint,
    answered_step    bigint,
    decided_step     bigint,
    asked_step       bigint,
    n_requirements   int NOT NULL DEFAULT 0,
    reason           text,
    cut_step         bigint NOT NULL,
    -- Hashes of the passage's words, and those that no tool result has shown yet.
    blocks           bytea NOT NULL,
    unseen           bytea NOT NULL,
    -- The candidate sentences: {sentence, text, leads, cited_step, seen_step}.
    sentences        jsonb NOT NULL,
    PRIMARY KEY (job_id, passage),
    CHECK ((state = 'answered') = (answered_by IS NOT NULL)),
    CHECK (decided_step IS NULL OR state = 'answered'),
    CHECK (judged OR answered_by IS DISTINCT FROM 'empty')
);
COMMENT ON TABLE passages IS 'The passages of a job''s documents and the state of each; the view coverage summarizes them.';
COMMENT ON COLUMN passages.passage IS 'The number in the name of its chunk''s file, unique in the job.';
COMMENT ON COLUMN passages.ordinal IS 'Its place in its document, from 1 without gaps.';
COMMENT ON COLUMN passages.candidates IS 'Sentences that are likely to oblige somebody.';
COMMENT ON COLUMN passages.candidates_cited IS 'Those of them that are covered: by a standing requirement, or, where the job''s type records none, by a verified quote in a delivered file.';
COMMENT ON COLUMN passages.n_sentences IS 'Sentences that begin in it.';
COMMENT ON COLUMN passages.n_not_judged IS 'Those of them that the scan has no rules for.';
COMMENT ON COLUMN passages.decisions IS 'The candidates that were decided by their numbers: [{s, why | in, step}]; in is the number of a requirement.';
COMMENT ON COLUMN passages.carried_from IS 'What answered it in an earlier job, through a chain the first one. Of a passage that is not answered: by older rules, so that it is worked anew.';
COMMENT ON COLUMN passages.decided_step IS 'The step of the decision that answered it; null where older rules did, which counted quotes.';
COMMENT ON COLUMN passages.asked_step IS 'The step that first said what a decision leaves open.';
COMMENT ON COLUMN passages.judged IS 'Whether the scan has rules for all of its text: not for other languages than English and German, verbatim text, and what was not decoded.';
COMMENT ON COLUMN passages.n_requirements IS 'Requirements with a verified citation that begins in it.';
COMMENT ON COLUMN passages.reason IS 'The model''s, where it closed the passage; the parser''s, where its text cannot be had.';

-- One row per document, and one per job with document null. A document without passages has a share of 0.
CREATE VIEW coverage WITH (security_barrier) AS
SELECT d.job_id, d.document, count(p.passage) AS passages,
       count(p.passage) FILTER (WHERE p.state = 'unread') AS unread,
       count(p.passage) FILTER (WHERE p.state = 'read') AS read,
       count(p.passage) FILTER (WHERE p.state = 'answered') AS answered,
       count(p.passage) FILTER (WHERE b.answered_by IN ('recorded', 'citation', 'carried')) AS cited,
       count(p.passage) FILTER (WHERE b.answered_by = 'empty') AS empty,
       count(p.passage) FILTER (WHERE b.answered_by = 'closed') AS closed,
       coalesce(sum(p.candidates), 0)::bigint AS candidates,
       coalesce(sum(p.candidates_cited), 0)::bigint AS candidates_cited,
       coalesce(sum(p.n_requirements), 0)::bigint AS requirements,
       trunc(count(p.passage) FILTER (WHERE p.state = 'answered')::numeric / greatest(count(p.passage), 1), 4) AS share,
       count(p.passage) FILTER (WHERE NOT p.judged) AS not_judged
FROM (
    SELECT job_id, path AS document FROM sources
    UNION
    SELECT job_id, document FROM passages
) AS d
LEFT JOIN passages p ON p.job_id = d.job_id AND p.document = d.document
-- A passage that was carried over counts by what answered it in the earlier job.
CROSS JOIN LATERAL (
    SELECT CASE p.answered_by WHEN 'carried' THEN coalesce(p.carried_from, 'carried') ELSE p.answered_by END AS answered_by
) AS b
WHERE (SELECT sees_every_job()) OR may_read_job(d.job_id)
GROUP BY GROUPING SETS ((d.job_id, d.document), (d.job_id));
COMMENT ON VIEW coverage IS 'How much of each document a job has worked through; the row whose document is null is the total of the job.';

-- The counterpart of file_versions and blobs for shared files.
CREATE VIEW shared_file_versions AS
SELECT u.job_id, f.path, u.step, f.sha256, f.size, f.placeholder, u.created_at, f.content
FROM job_shared_files u
JOIN shared_files f ON f.set_id = u.set_id;

CREATE VIEW workspace_files WITH (security_barrier) AS
SELECT f.job_id, f.path, f.size, f.sha256, f.step, f.updated_at
FROM (
    SELECT job_id, path, size, encode(sha256, 'hex') AS sha256, step, created_at AS updated_at
    FROM (
        SELECT DISTINCT ON (job_id, path) job_id, path, size, sha256, step, created_at
        FROM file_versions
        ORDER BY job_id, path, step DESC
    ) AS latest
    WHERE sha256 IS NOT NULL
    UNION ALL
    SELECT job_id, path, size, encode(sha256, 'hex'), step, created_at
    FROM shared_file_versions
) AS f
WHERE (SELECT sees_every_job()) OR may_read_job(f.job_id);
COMMENT ON VIEW workspace_files IS 'The files of each job that its reader may read, as they are now.';

-- Example: SELECT convert_from(workspace_file('<job>', 'main_plan.md'), 'UTF8');
-- SECURITY DEFINER: a login that may read the files of one job need not be able to read those of all jobs.
CREATE FUNCTION workspace_file(job_id uuid, path text) RETURNS bytea LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT b.content
    FROM (
        SELECT v.job_id, v.sha256
        FROM file_versions v
        WHERE v.job_id = workspace_file.job_id AND v.path = workspace_file.path AND may_read_job(workspace_file.job_id)
        ORDER BY v.step DESC
        LIMIT 1
    ) AS latest
    JOIN blobs b ON b.job_id = latest.job_id AND b.sha256 = latest.sha256
    UNION ALL
    SELECT s.content
    FROM shared_file_versions s
    WHERE s.job_id = workspace_file.job_id AND s.path = workspace_file.path AND may_read_job(workspace_file.job_id)
$$;
REVOKE EXECUTE ON FUNCTION workspace_file(uuid, text) FROM PUBLIC;
COMMENT ON FUNCTION workspace_file(uuid, text) IS 'The content of a job''s file; null where there is none.';

-- Long values that steps write are compressed with LZ4 if the server supports it: a tenth to a fifth more bytes than
-- pglz, in less than a third of the time. The files of jobs with documents took pglz 7 % of all their processor time.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        ALTER TABLE messages
            ALTER COLUMN content SET COMPRESSION lz4,
            ALTER COLUMN tool_calls SET COMPRESSION lz4,
            ALTER COLUMN extra SET COMPRESSION lz4;
        ALTER TABLE checkpoints ALTER COLUMN state SET COMPRESSION lz4;
        ALTER TABLE job_settings ALTER COLUMN resolved SET COMPRESSION lz4;
        ALTER TABLE blobs ALTER COLUMN content SET COMPRESSION lz4;
    END IF;
END $$;
