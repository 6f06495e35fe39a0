-- Forget the cosines of a model.
--
-- in   $model_id  integer
delete from cosines
where model_id = $model_id
