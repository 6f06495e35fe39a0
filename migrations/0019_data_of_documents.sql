-- How much of each document is data, such as base64, which is neither searched nor embedded.

alter table documents add column data_bytes ubigint;  -- of its text in UTF-8; null: not told yet

-- The next update tells it of all documents.
update counters
set value = coalesce((select max(document_id) + 1 from documents), 0)
where name = 'stale_postings';
