-- Set how many threads share out a statement.
--
-- in   $threads  integer  put in as text
set global threads = $threads
