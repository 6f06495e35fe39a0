-- Collections with the totals of their documents.
--
-- out  collection      text        its name
-- out  root            text        absolute path of its folder
-- out  mask            text        glob of the files that belong to it
-- out  ignored         text[]      globs of files that do not
-- out  included        boolean     whether searches look into it that name none
-- out  update_command  text?       run before it is indexed
-- out  documents       bigint
-- out  bytes           bigint      of their files
-- out  modified        timestamp?  UTC, of the file that changed last
create view collections as
select
    name as collection,
    root,
    mask,
    ignored,
    included,
    update_command,
    count(document_id) as documents,
    coalesce(sum(size), 0)::bigint as bytes,
    max(modified) as modified
from qmd_index.collections
left join qmd_index.documents on name = collection
group by all
