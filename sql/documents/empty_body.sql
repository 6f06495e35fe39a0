-- Remove a text that is stored in pieces from `content`.
--
-- in   $hash  text
update content
set body = ''
where hash = $hash
