-- A new file for resolved links.
--
-- in   $path            text     put in as text, since attach takes no parameters
-- in   $block_size      integer  bytes
-- in   $row_group_size  integer  rows
attach $path as qmd_links (type duckdb, storage_version 'v1.5.0', block_size $block_size, row_group_size $row_group_size)
