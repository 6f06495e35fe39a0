-- Add the collection of records, if it is not there yet. It has no folder, and so no root.
insert into collections
select 'experiences', '', '*.md', [], null, true, false, false
where not exists (select 1 from collections where name = 'experiences')
