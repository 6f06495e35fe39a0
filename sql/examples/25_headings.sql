-- Which sections are about a word?
select file, line, repeat('#', level) || ' ' || text as heading
from headings
where text ilike '%decision%'
order by file, line
limit 20
