-- Mark all signatures as compared.
update sketches
set settled = true
where not settled
