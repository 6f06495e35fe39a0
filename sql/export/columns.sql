-- The columns of rows.
--
-- in   $rows  statement  put in as text
describe $rows
