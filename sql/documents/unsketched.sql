-- Postings of some documents whose texts have no signature, one document for each text.
--
-- in   $limit      integer    documents at most
-- out  number      integer    of the document among them, from 0
-- out  hash        text       of its content
-- out  body_start  integer    position of the first word of its text
-- out  term_id     bigint?    null: it has no word
-- out  positions   integer[]?
with lacking as (
    select min(document_id) as document_id, hash
    from documents
    where hash not in (select hash from sketches)
    group by hash
    order by hash
    limit $limit
)

select
    (dense_rank() over (order by lacking.hash) - 1)::integer as number,
    lacking.hash,
    documents.body_start::integer as body_start,
    postings.term_id,
    postings.positions::integer[] as positions
from lacking
join documents using (document_id)
left join postings using (document_id)
order by lacking.hash, postings.term_id
