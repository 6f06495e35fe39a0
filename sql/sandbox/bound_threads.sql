-- Limit the threads of a statement.
--
-- in   $most  integer  put in as text, since set takes no parameters
set threads = $most
