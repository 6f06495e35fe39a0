-- Documents that no other one links to.
--
-- needs  documents, backlinks
-- out  file         text
-- out  title        text
-- out  date         timestamp  as in `documents`
-- out  links        bigint     to other documents, that it has itself
-- out  document_id  uinteger   changes whenever the document does
create view orphans as
with leaving as (
    select from_file as file, count(*) as links
    from backlinks
    group by from_file
)

select file, title, date, coalesce(links, 0) as links, document_id
from documents
left join leaving using (file)
where file not in (select file from backlinks)
