-- Record the state of the vectors that the copy was made of.
--
-- in   $fingerprint  text
-- in   $last         integer  the highest chunk_id there was
-- in   $vectors      integer
create table shortcut.facts as
select $fingerprint as fingerprint, $last as last, $vectors as vectors
