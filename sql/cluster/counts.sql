-- The size of a shard.
--
-- out  documents  bigint
-- out  vectors    bigint  of all models
select
    (select count(*) from documents) as documents,
    (select count(*) from embeddings) as vectors
