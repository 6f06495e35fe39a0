-- Append the sorted slice.
insert into postings
select * from slice
