-- Names and folders of the collections that were added.
--
-- out  name  text
-- out  root  text
select name, root from collections order by name
