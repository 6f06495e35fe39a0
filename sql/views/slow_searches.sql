-- Searches that took longer than nineteen of twenty of their kind.
--
-- needs  searches
-- out  searched_at   timestamp  UTC
-- out  verb          text       search, vsearch or query
-- out  query         text
-- out  milliseconds  double     that it took
-- out  usual         double     milliseconds: the median of its kind
-- out  results       bigint
create view slow_searches as
with kinds as (
    select
        verb,
        median(milliseconds) as usual,
        quantile_cont(milliseconds, 0.95) as most
    from searches
    group by verb
)

select searched_at, verb, query, milliseconds, usual, results
from searches
join kinds using (verb)
where milliseconds > most
