-- One row with a time that no worker can read, such as infinity, made every claim fail. A job may run from any time on
-- (run_at); what says when it came, began or ended is a time that people's calendars have.
CREATE TRIGGER jobs_times_are_in_years_1_to_9999
    AFTER INSERT OR UPDATE OF created_at, started_at, completed_at ON jobs
    FOR EACH ROW
    WHEN (least(NEW.created_at, NEW.updated_at, NEW.started_at, NEW.completed_at) < '0001-01-01 00:00:00Z'
          OR greatest(NEW.created_at, NEW.updated_at, NEW.started_at, NEW.completed_at) >= '10000-01-01 00:00:00Z')
    EXECUTE FUNCTION jobs_refuse();
