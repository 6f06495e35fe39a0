-- Note of which state the resolved links are.
--
-- in   $state  text
create table qmd_links.stamp as
select $state::text as state
