-- Number of texts that no document has, without reading them.
--
-- out  texts  bigint
select count(*) as texts
from content
anti join documents on content.hash = documents.hash
