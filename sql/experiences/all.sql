-- All records, the newest first.
--
-- in   $id                   text?      beginning of an id; null: of any
-- out  id                    text
-- out  title                 text
-- out  problem_description   text
-- out  root_cause            text?
-- out  solution              text
-- out  context               text?
-- out  keywords              text[]
-- out  created_at            timestamp  UTC
-- out  document_id           integer
-- out  query_count           bigint     answers in which it was
select
    experiences.id,
    experiences.title,
    substring(body, problem_description.start + 1, problem_description.length)
        as problem_description,
    substring(body, root_cause.start + 1, root_cause.length) as root_cause,
    substring(body, solution.start + 1, solution.length) as solution,
    substring(body, context.start + 1, context.length) as context,
    keywords,
    created_at,
    experiences.document_id,
    coalesce(query_count, 0)::bigint as query_count
from experiences
join documents on experiences.document_id = documents.document_id
join content on documents.hash = content.hash
left join experience_counts on experiences.id = experience_counts.id
where $id is null or starts_with(experiences.id, $id)
order by created_at desc, experiences.id
