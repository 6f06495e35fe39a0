-- Queries without results when they were last made.
--
-- needs  searches
-- out  query  text
-- out  verb   text       search, vsearch or query
-- out  times  bigint     that it was made
-- out  last   timestamp  UTC
create view zero_result_searches as
select query, verb, count(*) as times, max(searched_at) as last
from searches
group by query, verb
having arg_max(results, searched_at) = 0
