-- One row with a time that no worker can read, such as infinity, made every claim fail. A job may run from any time on
-- (run_at); what says when it came, began or ended is a time that people's calendars have.
CREATE TRIGGER jobs_times_are_in_years_1_to_9999
    AFTER INSERT OR UPDATE OF created_at, started_at, completed_at ON jobs
    FOR EACH ROW
    WHEN (least(NEW.created_at, NEW.updated_at, NEW.started_at, NEW.completed_at) < '0001-01-01 00:00:00Z'
          OR greatest(NEW.created_at, NEW.updated_at, NEW.started_at, NEW.completed_at) >= '10000-01-01 00:00:00Z')
    EXECUTE FUNCTION jobs_refuse();

-- The same for what a claim and a step count up: a sum that its column cannot hold is an error of the whole statement.
CREATE TRIGGER jobs_counts_are_small AFTER INSERT ON jobs
    FOR EACH ROW
    WHEN (least(NEW.attempt, NEW.crash_count, NEW.lease_epoch, NEW.step, NEW.phase_number, NEW.feedback_untaken,
                NEW.total_requests, NEW.total_tokens_used, NEW.cached_tokens) < 0
          OR greatest(NEW.attempt, NEW.crash_count, NEW.phase_number, NEW.feedback_untaken) > 1000000000
          OR greatest(NEW.lease_epoch, NEW.step, NEW.total_requests, NEW.total_tokens_used, NEW.cached_tokens)
             > 1000000000000000000
          OR NOT (NEW.cost_usd >= 0 AND NEW.cost_usd <= 1000000000))
    EXECUTE FUNCTION jobs_refuse();
