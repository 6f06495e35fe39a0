-- Metadata by which documents are found, and the time at which a file last changed in any way.

alter table documents add column ctime_ns bigint;  -- nanoseconds since 1970: of the file's last change in any way
alter table documents add column matter uinteger;  -- characters of its front matter; null: 0
alter table documents add column tags text[];      -- of the front matter and of the text, none twice
alter table documents add column aliases text[];   -- other names, of the front matter
alter table documents add column links text[];     -- that the text does not show, and only its reader tells
alter table documents add column remark text;      -- what is odd about the file; null: nothing

-- Files are read again: their titles, dates, tags and words are told by other rules.
update documents
set mtime_ns = -1, checksum = ''
where collection <> 'experiences';

-- Links and headings, too. Those of files with readers stay: the text alone does not tell them all.
update content
set outline = null
where hash in (select hash from documents where reader is null and collection <> 'experiences');
