-- Remove the documents that the accepted ones replace, with those inside of their files.
--
-- in   accepted  relation  made by documents/accept
-- out  hash      text      of the content of each
-- out  bytes     bigint    that it takes, about: of its file, or of its words
delete from documents
where
    document_id in (select seen_id from accepted where seen_id > 0)
    or (
        container is not null
        and (collection, container) in (select (collection, path) from accepted where seen_id > 0)
    )
returning hash, greatest(size, 8::ubigint * body_length)::bigint as bytes
