-- Note that no chunk has data any more.
update counters
set value = 0
where name = 'stale_chunks'
