-- Discard a prepared statement.
--
-- in   $plan  name  put in as text
deallocate $plan
