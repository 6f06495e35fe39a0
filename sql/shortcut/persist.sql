-- Permit an HNSW index in a file: here it is written once, and never changed after.
set hnsw_enable_experimental_persistence = true
