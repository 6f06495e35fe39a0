-- Integrity constraints of an index, with the number of violations of each.
--
-- out  fact   text
-- out  times  bigint  0: it holds
select 'one document at a path' as fact, count(*) - count(distinct (collection, path)) as times
from documents
union all
select 'one document to a number', count(*) - count(distinct document_id) from documents
union all
select 'every document has its content', count(*)
from documents
where hash not in (select hash from content)
union all
select 'every text has a body or pieces, and not both', count(*)
from content
where (body = '') <> (hash in (select hash from text_pieces))
union all
select 'every piece has its text', count(*)
from text_pieces
where hash not in (select hash from content)
union all
select 'the pieces of a text are numbered from 0 on', count(*)
from (
    select 1
    from text_pieces
    group by hash
    having max(number) <> count(*) - 1 or count(distinct number) <> count(*)
)
union all
select 'every document has its collection', count(*)
from documents
where collection not in (select name from collections)
union all
select 'no document is gone and there', count(*)
from documents
where document_id in (select document_id from tombstones)
union all
select 'no posting without a document', count(*)
from postings
where
    document_id not in (select document_id from documents)
    and document_id not in (select document_id from tombstones)
union all
select 'one posting for a term and a document', count(*) - count(distinct (term_id, document_id))
from postings
union all
select 'every posting has a word', count(*)
from (select distinct term_id from postings)
where term_id not in (select term_id from words)
union all
select 'a word has one term', count(distinct (word, term_id)) - count(distinct word) from words
union all
select 'the digest of the words is theirs', count(*)
from counters
where
    name = 'words_digest'
    and value <> (select coalesce(bit_xor(md5_number_lower(word || ' ' || term_id)), 0) from words)
union all
select 'postings add up to the lengths of the documents', count(*)
from documents
left join (
    select
        document_id,
        sum(title_frequency) as in_title,
        sum(path_frequency) as in_path,
        sum(body_frequency) as in_body
    from postings
    group by document_id
) as counted on documents.document_id = counted.document_id
where
    (coalesce(in_title, 0), coalesce(in_path, 0), coalesce(in_body, 0))
    <> (title_length, path_length, body_length)
union all
select 'every position counts once', count(*)
from postings
where len(positions) <> title_frequency + path_frequency + body_frequency
union all
select 'every vector has its chunk', count(*)
from embeddings
where chunk_id not in (select chunk_id from chunks)
union all
select 'one vector for a chunk', count(*) - count(distinct chunk_id) from embeddings
union all
select 'one chunk at a place', count(*) - count(distinct (model_id, hash, seq)) from chunks
union all
select 'every chunk has its model', count(*)
from chunks
where model_id not in (select model_id from embedding_models)
union all
select 'the chunks of a text are numbered from 0 on', count(*)
from (select 1 from chunks group by model_id, hash having max(seq) <> count(*) - 1)
union all
select 'every vector has the dimensions of its model', count(*)
from embeddings
join embedding_models on embeddings.model_id = embedding_models.model_id
where len(vector) <> dimensions or bit_length(signs) <> dimensions
union all
select 'every number of a vector is finite', count(*)
from embeddings
where not isfinite(list_inner_product(vector, vector))
union all
select 'every experience record has its document', count(*)
from experiences
where
    (document_id, id || '.md') not in (
        select (document_id, path) from documents where collection = 'experiences'
    )
union all
select 'every document of experience records has its record', count(*)
from documents
where collection = 'experiences' and document_id not in (select document_id from experiences)
union all
select 'one experience record to an id', count(*) - count(distinct id) from experiences
union all
select 'every count has its experience record', count(*)
from experience_counts
where id not in (select id from experiences)
union all
select 'one count for an experience record', count(*) - count(distinct id) from experience_counts
