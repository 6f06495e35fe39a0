-- Numbers of the next document and the next chunk.
--
-- out  document_id  bigint
-- out  chunk_id     bigint
select
    (select value from counters where name = 'next_document_id') as document_id,
    (select value from counters where name = 'next_chunk_id') as chunk_id
