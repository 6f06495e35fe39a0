-- Set how many full row groups an insert keeps in memory before it writes them.
--
-- in   $groups  integer  put in as text
set global write_buffer_row_group_count = $groups
