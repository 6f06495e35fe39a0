-- Let searches without names of collections find records, or not.
--
-- in   $included  boolean
update collections
set included = $included
where name = 'experiences' and root = ''
