-- What BM25 wants to know of all documents together.
--
-- out  total           double
-- out  average_length  double   of a document, weighted by field as in search/bm25; 0 if there is none
-- out  languages       text[]   of documents, besides English
-- out  link_pages      bigint[] document_id of those that are lists of links: qmd/text/link_lists.py
select
    count(*)::double as total,
    coalesce(avg(@title * title_length + @path * path_length + body_length), 0)
        as average_length,
    coalesce(list_sort(list(distinct lang) filter (lang <> 'en')), []) as languages,
    coalesce(list_sort(list(document_id::bigint) filter (link_percent >= @link_list)), []) as link_pages
from documents
