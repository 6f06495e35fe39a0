-- Limit the tasks of a checkpoint that join small row groups of all tables; 0: join none.
--
-- in   $tasks  integer  put in as text
set global max_vacuum_tasks = $tasks
