-- A content of a job by its hash, whether or not a file has it.
SELECT content FROM blobs WHERE job_id = $1 AND sha256 = $2
