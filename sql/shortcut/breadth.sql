-- Number of candidates in a search of the graph: more find better, and take longer.
--
-- in   $breadth  integer  put in as text, since SET takes no parameters
set hnsw_ef_search = $breadth
