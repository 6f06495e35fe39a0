-- Attach an index without a file, for rows of tables that come from several indexes.
attach ':memory:' as qmd_index
