-- Documents with their texts, in the order of their numbers, from one number on.
--
-- in   $after         integer  a document_id
-- in   $limit         integer  documents at most
-- out  document_id    integer
-- out  collection     text
-- out  path           text
-- out  title          text
-- out  hash           text
-- out  metadata       json?
-- out  title_length   integer
-- out  path_length    integer
-- out  body_length    integer
-- out  path_start     integer
-- out  body_start     integer
-- out  body           text     empty: it is a long one, in pieces
-- out  outline        struct?  as in `content`, with U+001E between two texts and targets
-- out  reader         text?    that has read the file
-- out  container      text?    path of the file that it is inside of
-- out  matter         integer  characters of its front matter
-- out  tags           text[]   of the front matter and of the text
-- out  aliases        text[]
-- out  links          text[]   that only its reader tells
-- out  said           text[]   what the reader said of files with this text
-- out  lang           text?    ISO 639-1 code
select
    document_id,
    collection,
    path,
    title,
    documents.hash,
    metadata,
    title_length,
    path_length,
    body_length,
    path_start,
    body_start,
    body,
    case
        when outline is not null then {
            'kinds': outline.kinds,
            'lines': outline.lines,
            'texts': array_to_string(outline.texts, chr(30)),
            'targets': array_to_string(outline.targets, chr(30))
        }
    end as outline,
    documents.reader,
    container,
    coalesce(matter, 0) as matter,
    coalesce(tags, []) as tags,
    coalesce(aliases, []) as aliases,
    coalesce(links, []) as links,
    coalesce(said, []) as said,
    lang
from (
    from documents
    where document_id > $after
    order by document_id
    limit $limit
) as documents
join content on documents.hash = content.hash
left join (
    select hash, reader, array_agg(said::text order by digest) as said
    from readings
    group by hash, reader
) as read_as
    on documents.hash = read_as.hash and documents.reader = read_as.reader
order by document_id
