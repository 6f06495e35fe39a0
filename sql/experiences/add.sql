-- Add records whose documents were accepted.
--
-- in   accepted  relation  made by documents/accept
-- in   $records  json      array of the columns of experiences, without document_id
insert into experiences
select
    id, document_id, records.title, problem_description, root_cause, solution, context, keywords,
    created_at
from (
    select unnest(
        from_json(
            $records,
            '[{"id": "VARCHAR", "title": "VARCHAR", "problem_description": "VARCHAR",
               "root_cause": "VARCHAR", "solution": "VARCHAR", "context": "VARCHAR",
               "keywords": ["VARCHAR"], "created_at": "TIMESTAMP"}]'
        ),
        recursive := true
    )
) as records
join accepted on accepted.path = records.id || '.md'
order by document_id
