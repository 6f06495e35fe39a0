-- Documents: the files of all collections, with their texts.
--
-- out  docid        text       # and six hex digits; that of the content, so copies share it
-- out  file         text       collection/path; unique, and how other views name a document
-- out  collection   text
-- out  path         text       below the folder of the collection, with /
-- out  title        text
-- out  date         timestamp  UTC: of the frontmatter, else of the file's name, else `modified`
-- out  modified     timestamp  UTC, of the file
-- out  size         bigint     bytes of the file
-- out  words        uinteger   occurrences of terms in the body
-- out  metadata     json?      frontmatter
-- out  tags         text[]?    of the frontmatter and of the text, without #, none twice
-- out  aliases      text[]?    other names, of the frontmatter
-- out  lang         text?      language of the text, an ISO 639-1 code; null: nothing tells it
-- out  link_percent utinyint?  of the text in lists of links; null: not told yet
-- out  data_bytes   ubigint?   of the text that are data, such as base64, and not searched; null: not told yet
-- out  hash         text       SHA-256 of the body, 64 hex digits
-- out  body         text
-- out  document_id  uinteger   changes whenever the document does
create view documents as
select
    '#' || documents.hash[:6] as docid,
    collection || '/' || path as file,
    collection,
    path,
    title,
    dated as date,
    modified,
    size::bigint as size,
    body_length as words,
    metadata,
    tags,
    aliases,
    lang,
    link_percent,
    data_bytes,
    documents.hash,
    body,
    document_id
from qmd_index.documents
join qmd_index.content on documents.hash = content.hash
anti join qmd_index.text_pieces on documents.hash = text_pieces.hash
union all
select
    '#' || documents.hash[:6] as docid,
    collection || '/' || path as file,
    collection,
    path,
    title,
    dated as date,
    modified,
    size::bigint as size,
    body_length as words,
    metadata,
    tags,
    aliases,
    lang,
    link_percent,
    data_bytes,
    documents.hash,
    (
        select string_agg(text, '' order by number)
        from qmd_index.text_pieces
        where text_pieces.hash = documents.hash
    ) as body,
    document_id
from qmd_index.documents
semi join qmd_index.text_pieces on documents.hash = text_pieces.hash
