-- Signatures of the texts of one shard, with names of one of the documents that have each.
--
-- out  hash        text
-- out  bins        blob
-- out  title       text
-- out  collection  text     of the first document, in order of collection/path; and its path:
-- out  path        text
-- out  documents   bigint   that have this text
select
    sketches.hash,
    any_value(sketches.bins) as bins,
    min_by(title, (collection, path)) as title,
    min_by(collection, (collection, path)) as collection,
    min_by(path, (collection, path)) as path,
    count(*) as documents
from sketches
join documents using (hash)
where octet_length(bins) > 0
group by sketches.hash
order by sketches.hash
