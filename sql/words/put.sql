-- Add the sorted words.
insert into words
select * from sorted_words
order by word
