-- Texts that several documents have, other than short ones.
--
-- out  hash  text
select hash
from documents
join sketches using (hash)
where octet_length(bins) > 0
group by hash
having count(*) > 1
order by hash
