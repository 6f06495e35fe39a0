-- Hybrid search: documents that match a question by keywords and vectors, best first.
--
-- Searches run before the statement, so arguments are constants or parameters. The order of a join is
-- undefined: add `order by rank`.
--
-- in   query       text     as 'qmd query' takes it
-- in   n           integer  documents at most
-- in   $selection  inserted as text: the parameters that select documents, each null if absent
-- in   $chosen     inserted as text: their names
-- out  rank        integer  1 is the best
-- out  score       double   0 to 1, higher is better
-- out  docid       text     of `documents`
-- out  file        text     of `documents`
-- out  collection  text
-- out  path        text
-- out  title       text
-- out  line        integer  the first that matches, from 1
-- out  snippet     text     lines around the match, each with its number
create macro hybrid(query, n := 100, $selection) as table
select
    found.rank,
    found.score,
    found.docid,
    found.file,
    found.collection,
    found.path,
    found.title,
    found.line,
    found.snippet
from memory.qmd.found as found
where found.call = (
    select
        coalesce(
            max(calls.call),
            error('Call hybrid where qmd can see it in the statement.')
        )
    from memory.qmd.calls as calls
    where
        calls.search = 'hybrid'
        and calls.query_text = query
        and calls.at_most = n
        and calls.among = [$chosen]::text[]
)
order by found.rank
