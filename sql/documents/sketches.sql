-- Signatures of texts, with names of one of the documents that have each.
--
-- out  hash   text
-- out  bins   blob
-- out  title  text
-- out  path   text    of the first document, in order of collection/path
-- out  named  bigint  texts with this title
with named as (
    select hash, min_by(title, (collection, path)) as title, min_by(path, (collection, path)) as path
    from documents
    group by hash
)

select
    sketches.hash,
    sketches.bins,
    named.title,
    named.path,
    count(*) over (partition by lower(named.title)) as named
from sketches
join named using (hash)
where octet_length(sketches.bins) > 0
order by sketches.hash
