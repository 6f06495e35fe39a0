-- Table for rows that come from several indexes.
--
-- in   $name     text  of the table; put in as text
-- in   $columns  text  names and types; put in as text
create table memory.main.$name ($columns)
