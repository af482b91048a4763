-- An endpoint that has refused requests for a moment and states no limits is forgotten after a while.
SELECT endpoint, key_name, model FROM endpoint_limits
WHERE coalesce(requests_per_minute, tokens_per_minute, parallel) IS NOT NULL OR blocked_until > now() - interval '10 minutes'
