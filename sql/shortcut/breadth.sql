-- How many candidates the graph is searched for: more find better, and take longer.
--
-- in   $breadth  integer  put in as text, since SET takes no parameters
set hnsw_ef_search = $breadth
