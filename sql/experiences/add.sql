-- Add records whose documents were accepted.
--
-- in   accepted  relation  made by documents/accept
-- in   $records  json      array of the columns of experiences, without document_id
insert into experiences
select
    record.id,
    document_id,
    record.title,
    record.problem_description,
    record.root_cause,
    record.solution,
    record.context,
    record.keywords,
    record.created_at
from (
    select unnest(
        from_json(
            $records,
            '[{"id": "VARCHAR", "title": "VARCHAR",
               "problem_description": {"start": "UINTEGER", "length": "UINTEGER"},
               "root_cause": {"start": "UINTEGER", "length": "UINTEGER"},
               "solution": {"start": "UINTEGER", "length": "UINTEGER"},
               "context": {"start": "UINTEGER", "length": "UINTEGER"},
               "keywords": ["VARCHAR"], "created_at": "TIMESTAMP"}]'
        )
    ) as record
)
join accepted on accepted.path = record.id || '.md'
order by document_id
