-- The search index over the workspace's texts. It is made when a job first searches, not when it writes, so that a step
-- costs nothing for it, and it is keyed by content: the same bytes are indexed once, whatever their path and however
-- often they come back. It holds nothing that could not be made anew.

-- Contents that are in the index, those without any text included.
CREATE TABLE indexed_blobs (
    job_id     uuid NOT NULL,
    sha256     bytea NOT NULL,
    indexed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, sha256),
    FOREIGN KEY (job_id, sha256) REFERENCES blobs (job_id, sha256) ON DELETE CASCADE
);

-- A text's passages. A search is always within one job and ranks all of its matches, so the key by job serves it better
-- than one index over the words of all jobs would.
CREATE TABLE file_passages (
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

-- What a passage means, as the embeddings model of that name says; of length 1, so that a product of two is their
-- likeness.
CREATE TABLE passage_embeddings (
    job_id    uuid NOT NULL,
    sha256    bytea NOT NULL,
    part      int NOT NULL,
    model     text NOT NULL,
    embedding real[] NOT NULL,
    PRIMARY KEY (job_id, sha256, part, model),
    FOREIGN KEY (job_id, sha256, part) REFERENCES file_passages (job_id, sha256, part) ON DELETE CASCADE
);
