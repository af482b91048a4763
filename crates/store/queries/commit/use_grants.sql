-- Approves what grants cover of the calls that are pending.
SELECT use_grants($1)
