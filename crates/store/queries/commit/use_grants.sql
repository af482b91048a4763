-- Approves the pending calls that grants cover.
SELECT use_grants($1)
