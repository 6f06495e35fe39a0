-- Which sites do my documents point to?
select regexp_extract(target, '^https?://(?:www\.)?([^/:?#]+)', 1) as site, count(*) as links
from links
where external
group by site
order by links desc, site
limit 20
