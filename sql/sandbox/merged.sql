-- Aggregates of all rows from those of parts, one for each name. It is read, and never run.
--
-- in   part   relation  a row for each group of each part
select
    cast(sum(part) as bigint) as count,
    sum(part) as sum,
    sum(part) / sum(parts) as avg,
    min(part) as min,
    max(part) as max,
    bool_and(part) as bool_and,
    bool_or(part) as bool_or,
    bit_and(part) as bit_and,
    bit_or(part) as bit_or,
    bit_xor(part) as bit_xor,
    any_value(part) as any_value
from part
