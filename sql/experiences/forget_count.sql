-- Forget how often a record has answered.
--
-- in   $id  text
delete from experience_counts where id = $id
