-- How many requirements begin in each passage, once the step's rows are there.
SELECT count_requirements_of_passages($1)
