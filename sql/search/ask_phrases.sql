-- Documents with a phrase that is asked for, and how often.
--
-- in   $rows     json  array of {clause, weight, document_id, frequency, length}
insert into asked_phrases
select unnest(
    from_json(
        $rows,
        '[{"clause": "INTEGER", "weight": "DOUBLE", "document_id": "UINTEGER",
           "frequency": "DOUBLE", "length": "UINTEGER"}]'
    ),
    recursive := true
)
