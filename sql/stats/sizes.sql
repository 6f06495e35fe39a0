-- Documents by size, in steps of 1, 2, 5, 10, 20, 50 … bytes.
--
-- in   $collections  json?   array of names
-- out  at_least      bigint  bytes of the file
-- out  below         bigint
-- out  documents     bigint
with sized as (
    select
        size::bigint as size,
        (10 ** (length(size::text) - 1))::bigint as decade
    from documents
    where $collections is null or list_contains(from_json($collections, '["VARCHAR"]'), collection)
),

stepped as (
    select
        decade,
        case when size < 2 * decade then 1 when size < 5 * decade then 2 else 5 end as digit
    from sized
)

select
    digit * decade as at_least,
    if(digit = 2, 5, 2 * digit) * decade as below,
    count(*) as documents
from stepped
group by at_least, below
order by at_least
