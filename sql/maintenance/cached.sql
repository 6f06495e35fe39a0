-- Cached answers of models.
--
-- out  answers  bigint
select count(*) as answers from cache
