-- What a claim and the sweep count up may not be put at its column's end by an UPDATE either: the sum would be an error of
-- the whole statement, and no worker would claim any job. A step writes none of these.
CREATE TRIGGER jobs_counts_stay_small AFTER UPDATE OF attempt, crash_count, lease_epoch ON jobs
    FOR EACH ROW
    WHEN (greatest(NEW.attempt, NEW.crash_count) > 1000000000 OR NEW.lease_epoch > 1000000000000000000)
    EXECUTE FUNCTION jobs_refuse();
