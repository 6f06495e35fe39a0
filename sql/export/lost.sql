-- Number of chosen documents without a text.
--
-- in   $documents  json?   array of document_id; null: all
-- out  documents   bigint
select count(*) as documents
from documents
where
    ($documents is null or document_id in (select unnest(from_json($documents, '["UINTEGER"]'))))
    and hash not in (select hash from content)
