-- Documents with their texts.
--
-- out  document_id   uinteger   never used again: a changed document gets a new one
-- out  collection    text
-- out  path          text       below the folder of the collection, with /
-- out  title         text
-- out  body          text       the whole text
-- out  hash          text       SHA-256 of the body in UTF-8, 64 hex digits; the first six are the docid
-- out  metadata      text?      frontmatter, as JSON
-- out  dated         timestamp  UTC: from the frontmatter, else the file name, else `modified`
-- out  modified      timestamp  UTC, of the file
-- out  lossy         boolean    invalid UTF-8 was replaced
-- out  size          ubigint    bytes of the file
-- out  mtime_ns      bigint     of the file, nanoseconds since 1970; -1: to be checked again
-- out  inode         ubigint    of the file, on the machine of the export
-- out  checksum      text       XXH3-128 of the bytes of the file
-- out  reader        text?      that has read the file, with its version; null: it is text
-- out  container     text?      path of the file that it is inside of
-- out  places        text?      id of its places
-- out  ctime_ns      bigint?    of the last change of the file in any way, nanoseconds since 1970
-- out  matter        uinteger?  characters of its front matter
-- out  tags          text[]?    of the front matter and of the text, none twice
-- out  aliases       text[]?    other names, of the front matter
-- out  links         text[]?    that only the reader of the file tells, and not the text
-- out  remark        text?      what is odd about the file
-- out  lang          text?      language of the text, an ISO 639-1 code; null: nothing tells it
-- out  link_percent  utinyint?  of its text in lists of links; null: not told yet
-- out  data_bytes    ubigint?   of its text that are data, such as base64; null: not told yet
-- out  title_length  uinteger   occurrences of terms in the title
-- out  path_length   uinteger   in the path
-- out  body_length   uinteger   in the body
-- out  path_start    uinteger   position of the first word of the path, counted from that of the title
-- out  body_start    uinteger   of the body
select
    documents.document_id,
    documents.collection,
    path,
    title,
    body,
    documents.hash,
    metadata::text as metadata,
    dated,
    modified,
    lossy,
    size,
    mtime_ns,
    inode,
    checksum,
    reader,
    container,
    places,
    ctime_ns,
    matter,
    tags,
    aliases,
    links,
    remark,
    lang,
    link_percent,
    data_bytes,
    title_length,
    path_length,
    body_length,
    path_start,
    body_start
from (
    select document_id, body
    from memory.chosen
    join content on chosen.place = content.rowid
    anti join text_pieces on chosen.hash = text_pieces.hash
    union all
    select
        document_id,
        (
            select string_agg(text, '' order by number)
            from text_pieces
            where text_pieces.hash = chosen.hash
        ) as body
    from memory.chosen
    semi join text_pieces on chosen.hash = text_pieces.hash
) as bodies
join documents on bodies.document_id = documents.document_id
