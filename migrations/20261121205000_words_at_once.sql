-- The words of requirements go into their index at once. Put aside for later, as is usual, they are read through one by
-- one at each search, and a validator changes a row and searches for each requirement in turn.
ALTER INDEX requirement_cache_words SET (fastupdate = off);
