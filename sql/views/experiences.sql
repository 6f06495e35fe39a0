-- Experience records: solved problems that agents have submitted. They have not been reviewed.
--
-- out  id                   text       UUID
-- out  file                 text       of `documents`
-- out  title                text
-- out  problem_description  text
-- out  root_cause           text?
-- out  solution             text
-- out  context              text?
-- out  keywords             text[]     lower case, none twice
-- out  query_count          bigint     answers in which it was
-- out  created_at           timestamp  UTC
create view experiences as
select
    experiences.id,
    'experiences/' || experiences.id || '.md' as file,
    experiences.title,
    substring(body, problem_description.start + 1, problem_description.length)
        as problem_description,
    substring(body, root_cause.start + 1, root_cause.length) as root_cause,
    substring(body, solution.start + 1, solution.length) as solution,
    substring(body, context.start + 1, context.length) as context,
    keywords,
    coalesce(query_count, 0)::bigint as query_count,
    created_at
from qmd_index.experiences
join qmd_index.documents on experiences.document_id = documents.document_id
join qmd_index.content on documents.hash = content.hash
left join qmd_index.experience_counts on experiences.id = experience_counts.id
