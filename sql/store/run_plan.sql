-- Run a statement that has been planned.
--
-- in   $plan       name       put in as text
-- in   $arguments  arguments  of its parameters; put in as text
execute $plan($arguments)
