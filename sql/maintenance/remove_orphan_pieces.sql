-- Remove pieces of texts that are gone.
delete from text_pieces
where hash not in (select hash from content)
