-- The numbers of the chunks of a model.
--
-- in   $model_id  integer
-- out  first      integer  the lowest; 0 if there are none
-- out  count      integer  from that to the highest, with those that are none of the model's
select
    coalesce(min(chunk_id), 0) as first,
    coalesce(max(chunk_id)::bigint - min(chunk_id) + 1, 0) as count
from chunks
where model_id = $model_id
