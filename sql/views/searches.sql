-- Past searches from the log, the latest ones: see query_log in docs/configuration.md.
--
-- out  searched_at   timestamp  UTC
-- out  verb          text       search, vsearch or query
-- out  query         text
-- out  collections   text[]?    that were looked into; null: those that searches look into by default
-- out  at_most       bigint     results that were asked for
-- out  milliseconds  double     that it took
-- out  results       bigint
-- out  found         text[]     files, best first; a hundred at most
create view searches as
from memory.qmd.searches
