-- What a replay starts from: the job's row and its stored settings.
SELECT j.id, j.job_type, j.prompt, j.status, j.error_message, j.config, j.raised_limits, j.forked_step, j.waited_s, j.untrusted_step,
       coalesce(j.started_at, j.created_at) AS "started_at!", s.resolved AS "settings?",
       s.replaced AS "replaced?: Json<Vec<ReplacedSettings>>"
FROM jobs j
LEFT JOIN job_settings s ON s.job_id = j.id
WHERE j.id = $1
