-- A set of files that jobs share; one that is there already is the same.
INSERT INTO shared_files (set_id, path, sha256, size, placeholder, content)
SELECT $1, f.path, f.sha256, octet_length(f.content), f.placeholder, f.content
FROM unnest($2::text[], $3::bytea[], $4::boolean[], $5::bytea[]) AS f (path, sha256, placeholder, content)
ON CONFLICT (set_id, path) DO NOTHING
