-- Let an HNSW index be written to a file: here it is written once, and never changed after.
set hnsw_enable_experimental_persistence = true
