-- Keep the cosines of a model.
--
-- in   $model_id  integer
-- in   $mean      double
-- in   $spread    double   standard deviation
insert into cosines
values ($model_id, $mean, $spread)
