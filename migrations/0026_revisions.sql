-- What tells whether a document is still as it was when postings beside the index were made of it.

-- Random, and another one after each change of what they depend on: for documents that come, by this default.
alter table documents add column revision ubigint default hash(uuid());
