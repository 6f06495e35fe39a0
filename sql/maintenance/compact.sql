-- Write an index anew, without the room that nothing takes any more: DuckDB gives none of it back.
-- Tables keep their rows in order, their constraints and how their columns are compressed.
--
-- in   $old             text     a copy of the index file; the three are put in as text
-- in   $new             text     the file to make
-- in   $row_group_size  integer  rows
attach $old as old_index;
attach $new as new_index (
    type duckdb, storage_version 'v1.5.0', row_group_size $row_group_size
);
copy from database old_index to new_index;
detach new_index;
detach old_index;
