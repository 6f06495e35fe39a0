-- Remove the vectors of chunks that are not there any more.
delete from embeddings
where chunk_id not in (select chunk_id from chunks)
