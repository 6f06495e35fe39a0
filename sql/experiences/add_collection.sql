-- Add the collection of records. It has no folder, and so no root.
insert into collections
values ('experiences', '', '*.md', [], null, true, false, false, [])
