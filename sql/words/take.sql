-- The words, sorted, so that those with the same beginning are adjacent.
create or replace temp table sorted_words as
select *
from words
order by word
