-- Give the documents of a collection its new name. Postings hold no collection and stay.
--
-- in   $old  text
-- in   $new  text
update documents set collection = $new, revision = default where collection = $old
