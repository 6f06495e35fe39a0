-- Records of solved problems, submitted by agents. Each is also a document.
--
-- out  id                   text       UUID
-- out  document_id          uinteger   of its document
-- out  title                text
-- out  problem_description  text
-- out  root_cause           text?
-- out  solution             text
-- out  context              text?
-- out  keywords             text[]     lower case, none twice
-- out  created_at           timestamp  UTC
select
    id,
    document_id,
    title,
    problem_description,
    root_cause,
    solution,
    context,
    keywords,
    created_at
from experiences
where document_id in (select document_id from memory.chosen)
