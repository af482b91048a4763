-- Stores a set of files that jobs share; an existing set is identical.
INSERT INTO shared_files (set_id, path, sha256, size, placeholder, content)
SELECT $1, f.path, f.sha256, octet_length(f.content), f.placeholder, f.content
FROM unnest($2::text[], $3::bytea[], $4::boolean[], $5::bytea[]) AS f (path, sha256, placeholder, content)
ON CONFLICT (set_id, path) DO NOTHING
