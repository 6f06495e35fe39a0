-- Add the postings of accepted documents, in the order in which they come.
--
-- in   found   relation  number: the document's within the batch, and the columns of postings
-- in   $found  json?     the same, as an object of columns; null: there is the relation
-- in   $base   integer   document_id of number 0
insert into postings
-- if $found
with found as (
    select
        unnest(term_id) as term_id, unnest(number) as number,
        unnest(title_frequency) as title_frequency, unnest(path_frequency) as path_frequency,
        unnest(body_frequency) as body_frequency, unnest(length) as length,
        unnest(positions) as positions
    from (
        select unnest(
            from_json(
                $found,
                '{"term_id": ["BIGINT"], "number": ["UINTEGER"],
                  "title_frequency": ["UINTEGER"], "path_frequency": ["UINTEGER"],
                  "body_frequency": ["UINTEGER"], "length": ["UINTEGER"],
                  "positions": [["UINTEGER"]]}'
            )
        )
    )
)
-- end
select
    term_id, number + $base, title_frequency, path_frequency, body_frequency, length, positions
from found
