-- The positions of some terms, in the order of the table: those of each posting of held/postings.
--
-- in   $first    bigint    a term_id
-- in   $last     bigint    the highest of the terms
-- in   $since    integer?  lowest document_id; null: all
-- in   $buried   boolean?  null: there are no tombstones
-- out  position  integer
select unnest(positions) as position
from postings
-- if $buried
anti join tombstones on postings.document_id = tombstones.document_id and $buried
-- end
where term_id between $first and $last
-- if $since
and postings.document_id >= $since
-- end
