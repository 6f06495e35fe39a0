-- Documents by month, or by year where they span more than five years.
--
-- It runs in the sandbox, over the views.
--
-- in   $most       integer  periods at most, the newest
-- out  starts      date     first day of the period
-- out  ends        date     first day after it
-- out  documents   bigint
-- out  is_year     boolean  the periods are years
with long as (
    select max(date) - min(date) > interval 1827 days as is_year
    from documents
)

select
    date_trunc(case when is_year then 'year' else 'month' end, date)::date as starts,
    (starts + case when is_year then interval 1 year else interval 1 month end)::date as ends,
    count(*) as documents,
    is_year
from documents
cross join long
where date is not null and year(date) < 9999
group by starts, is_year
order by starts desc
limit $most
