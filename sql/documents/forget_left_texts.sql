-- Forget which texts documents have left.
delete from left_texts
