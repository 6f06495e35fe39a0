-- Digests of groups of rows, which detect changed, added and removed rows.
--
-- in   $rows        statement  put in as text
-- in   $key         name       column that numbers the rows, or 0; put in as text
-- in   $collection  name       column that they are parted by as well, or null; put in as text
-- in   $width       bigint     numbers in a group
-- out  collection   text?
-- out  cell         bigint     the number of the first row of a group, by `width`
-- out  rows         bigint
-- out  mixed        ubigint
-- out  added        hugeint
select
    $collection as collection,
    $key // $width as cell,
    count(*) as rows,
    bit_xor(hash(one)) as mixed,
    sum(hash(one)) as added
from ($rows) as one
group by all
order by all
