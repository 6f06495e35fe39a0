-- Make the table of the copied vectors.
--
-- in   $dimensions  integer  put in as text, since a type takes no parameters
create table shortcut.copied (chunk_id uinteger not null, vector float[$dimensions] not null)
