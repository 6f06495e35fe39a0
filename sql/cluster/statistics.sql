-- Figures of one shard from which those of all documents are added up: see search/statistics.
--
-- out  total      double
-- out  length     double   of all documents together, weighted by field as in search/bm25: a multiple of
--                          one half, so that sums are exact in any order
-- out  languages  text[]   of documents, besides English
-- out  link_pages bigint[] document_id of those that are lists of links: qmd/text/link_lists.py
select
    count(*)::double as total,
    coalesce(sum(@title * title_length + @path * path_length + body_length), 0) as length,
    coalesce(list_sort(list(distinct lang) filter (lang <> 'en')), []) as languages,
    coalesce(list(document_id::bigint) filter (link_percent >= @link_list), []) as link_pages
from documents
