-- Prepare a statement, to run it more than once.
--
-- in   $plan       name       put in as text
-- in   $statement  statement  put in as text
prepare $plan as
$statement
