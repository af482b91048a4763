-- The status of an earlier job that a job names, and whether it may name it: logins that act for others may name any
-- job, other logins only their own.
SELECT p.status AS "status!",
       coalesce(j.created_by IS NULL OR acts_for_others(j.created_by) OR p.created_by = j.created_by, false) AS "is_own!"
FROM jobs j
JOIN jobs p ON p.id = $2
WHERE j.id = $1
