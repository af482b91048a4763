-- A content of a job by its hash, whether a file has it or not.
SELECT content FROM blobs WHERE job_id = $1 AND sha256 = $2
