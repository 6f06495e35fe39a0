-- Documents that are lists of links, which stand behind the documents that they point to.

alter table documents add column link_percent utinyint;  -- of its text in lists of links; null: not told yet

-- The next update tells it of all documents.
update counters
set value = coalesce((select max(document_id) + 1 from documents), 0)
where name = 'stale_postings';
