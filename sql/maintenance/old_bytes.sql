-- Bytes that texts without a document take at most, about, where they are counted.
--
-- out  bytes  ubigint?  null: they are not counted
select max(value) as bytes
from counters
where name = 'old_bytes'
