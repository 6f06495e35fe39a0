-- Put the slice back at the end.
insert into postings
select * from slice
