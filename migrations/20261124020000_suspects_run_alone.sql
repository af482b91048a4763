-- A worker that dies takes all its jobs with it, and nobody knows which of them killed it. A job is blamed, and failed, only
-- when it was the only one: a job that met two crashes in a row is run alone until it has committed a step.
ALTER TABLE attempts ADD COLUMN alone boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN attempts.alone IS 'whether the worker ran nothing else meanwhile, because the job is suspected of killing workers';
