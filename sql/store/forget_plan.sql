-- Forget the plan of a statement.
--
-- in   $plan  name  put in as text
deallocate $plan
