-- Add the accepted documents.
--
-- in   accepted  relation  made by documents/accept
insert into documents by name
select
    document_id, collection, path, title, hash, metadata::json as metadata,
    make_timestamp(dated) as dated, make_timestamp(modified) as modified,
    lossy::boolean as lossy, size, mtime_ns, inode, checksum, title_length, path_length, body_length,
    path_start, body_start, reader, container, places, ctime_ns, matter, tags, aliases, links, remark, lang,
    link_percent, data_bytes
from accepted
