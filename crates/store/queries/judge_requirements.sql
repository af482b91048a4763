-- Judgements of a step, each only if the job still holds the row.
UPDATE requirement_cache r
SET status = CASE j.verdict WHEN 'accepted' THEN 'pending' ELSE j.verdict END,
    rejection_reason = CASE j.verdict WHEN 'rejected' THEN j.reason END,
    last_error = CASE j.verdict WHEN 'failed' THEN j.reason END,
    retry_count = retry_count + CASE j.verdict WHEN 'failed' THEN 1 ELSE 0 END,
    graph_node_id = coalesce(j.graph_node_id, r.graph_node_id),
    validation_result = j.validation_result,
    validated_at = now()
FROM json_to_recordset($2::text::json) AS j (
    id uuid, verdict text, reason text, graph_node_id text, validation_result jsonb)
WHERE r.id = j.id AND r.validator_job_id = $1 AND r.status = 'validating'
