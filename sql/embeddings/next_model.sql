-- A number for a new model.
--
-- out  model_id  integer?  null: all 255 are taken
select min(number) as model_id
from range(1, 256) as numbers (number)
where number not in (select model_id from embedding_models)
