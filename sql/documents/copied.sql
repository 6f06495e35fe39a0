-- Texts that several documents have, other than short ones.
--
-- out  hash  text
with several as (
    select hash
    from documents
    group by hash
    having count(*) > 1
)

select hash
from several
join sketches using (hash)
where octet_length(bins) > 0
order by hash
