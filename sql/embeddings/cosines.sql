-- Cosines of passages of a model taken at random; no row, if too few have been compared.
--
-- in   $model_id  integer
-- out  mean       double
-- out  spread     double   standard deviation
select mean, spread
from cosines
where model_id = $model_id
