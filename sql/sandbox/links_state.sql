-- State of all that tells where links lead: another text as soon as one of them may lead elsewhere.
--
-- The number of a document changes with its title, names and front matter.
--
-- in   $rules     text    digest of the statements that resolve links
-- out  documents  bigint
-- out  state      text
select
    count(*) as documents,
    concat_ws(
        ' ',
        $rules,
        count(*),
        bit_xor(hash(document_id, collection, path, reader, hash)),
        -- of texts that had no outline yet
        (select count(*) from qmd_index.content where outline is null)
    ) as state
from qmd_index.documents
