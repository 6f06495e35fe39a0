-- Places of documents that have no lines of their own: pages, slides, moments.
--
-- in   $chosen  boolean?  true: only those of the chosen documents
-- out  id       text      of `documents`.`places`
-- out  kinds    text      a letter each: p page, s slide, t sheet, m moment, c cell, n message, r row
-- out  labels   text      as people write them, U+001E between two
-- out  lines    text      where each begins, from 1, a blank between two
select id, kinds, labels, lines
from places
-- if $chosen
where
    $chosen
    and id in (
        select places
        from documents
        where document_id in (select document_id from memory.chosen) and places is not null
    )
-- end
