-- The claim of documents to be recent: up to 0.05.
--
-- in   $documents   json       array of document_id
-- in   $half_life   double     days after which it is half
-- in   $now         timestamp  UTC
-- out  document_id  integer
-- out  recency      double     0 to 0.05
select
    document_id,
    0.05::double
    * pow(0.5, greatest(epoch($now::timestamp - dated) / 86400, 0) / $half_life::double) as recency
from documents
where document_id in (select unnest(from_json($documents, '["UINTEGER"]')))
