-- Where do two words stand close together?
with asked as (
    select term
    from qmd_index.words
    where word in ('battery', 'winter')
),

places as (
    select file, term, unnest(positions) as place
    from postings
    semi join asked using (term)
)

select one.file, min(abs(one.place::bigint - other.place::bigint)) as words_apart
from places as one
join places as other on one.file = other.file and one.term < other.term
group by one.file
order by words_apart, one.file
limit 10
