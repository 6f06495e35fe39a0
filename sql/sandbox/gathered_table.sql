-- Table for rows that come from several indexes.
--
-- in   $name     text  catalog, schema and name of the table; put in as text
-- in   $columns  text  names and types; put in as text
create table $name ($columns)
