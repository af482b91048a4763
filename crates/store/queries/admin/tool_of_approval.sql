SELECT a.tool AS "name!", t.value -> 'schema' AS "schema?"
FROM approvals a
LEFT JOIN job_settings s ON s.job_id = a.job_id
LEFT JOIN LATERAL jsonb_array_elements(s.foreign_tools) AS t ON t.value ->> 'name' = a.tool
WHERE a.id = $1
