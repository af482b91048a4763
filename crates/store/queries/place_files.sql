-- New versions of files whose contents were put aside before; gives how many there are.
WITH filed AS (
    INSERT INTO file_versions (job_id, path, step, sha256, size, placeholder)
    SELECT $1, f.path, $2, f.sha256, f.size, false
    FROM unnest($3::text[], $4::bytea[], $5::bigint[]) AS f (path, sha256, size)
    JOIN blobs b ON b.job_id = $1 AND b.sha256 = f.sha256
    RETURNING 1
)
SELECT count(*) AS "placed!" FROM filed
