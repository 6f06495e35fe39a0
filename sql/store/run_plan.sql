-- Run a prepared statement.
--
-- in   $plan       name       put in as text
-- in   $arguments  arguments  of its parameters; put in as text
execute $plan($arguments)
