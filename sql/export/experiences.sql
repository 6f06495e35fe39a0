-- Records of solved problems, submitted by agents. Each is also a document, in whose body its texts are.
--
-- in   $chosen              boolean?   true: only those of the chosen documents
-- out  id                   text       UUID
-- out  document_id          uinteger   of its document
-- out  title                text
-- out  problem_description  struct     where it is in the body: characters before it, and how many it has
-- out  root_cause           struct?    the same
-- out  solution             struct     the same
-- out  context              struct?    the same
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
-- if $chosen
where $chosen and document_id in (select document_id from memory.chosen)
-- end
