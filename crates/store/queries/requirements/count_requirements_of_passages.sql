-- How many requirements begin in each passage, after the step's rows are written.
SELECT count_requirements_of_passages($1)
