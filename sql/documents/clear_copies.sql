-- Forget which texts are nearly the same.
delete from copies
