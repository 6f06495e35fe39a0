-- Records of solved problems, submitted by agents. Each is also a document, in which its texts stand:
-- a part is where one is, in characters from the start, and how many it has.
--
-- out  id                   text       UUID
-- out  document_id          uinteger   of its document
-- out  title                text
-- out  problem_description  struct     start and length
-- out  root_cause           struct?
-- out  solution             struct
-- out  context              struct?
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
