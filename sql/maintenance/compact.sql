-- Begin a copy of an index without free blocks, which DuckDB never returns: all tables, and the rows of the
-- postings. Tables keep the order of their rows (but for `content`), their constraints and their compression.
--
-- in   $old                    text     a copy of the index file; the four are put in as text
-- in   $new                    text     the file to make
-- in   $sorted_row_group_size  integer  rows, of postings
-- in   $row_group_size         integer  rows, of all other tables
attach $old as old_index (read_only);
attach $new as qmd_index (
    type duckdb, storage_version 'v1.5.0', row_group_size $sorted_row_group_size
);
copy from database old_index to qmd_index (schema);
insert into qmd_index.postings
from old_index.postings;
detach qmd_index;
attach $new as qmd_index (
    type duckdb, storage_version 'v1.5.0', row_group_size $row_group_size
);
