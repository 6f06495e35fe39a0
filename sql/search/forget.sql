-- Forget how the last search wanted its answer.
delete from asked
