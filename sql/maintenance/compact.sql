-- Copy an index without free blocks, which DuckDB never returns. Tables keep the order of their rows, their
-- constraints and the compression of their columns.
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
