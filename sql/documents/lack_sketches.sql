-- Check for texts without a signature, among those of documents since the texts were grouped.
--
-- in   $since   bigint   see documents/ungrouped_since
-- out  lacking  boolean
with recent as materialized (
    select hash
    from documents
    where document_id >= $since
),

signed as (  -- a semi join, since it reads no signatures where nothing is recent
    select hash
    from sketches
    semi join recent using (hash)
)

select exists (from recent anti join signed using (hash)) as lacking
