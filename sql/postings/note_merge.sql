-- Record that all postings are sorted.
update counters
set value = case name
    when 'merged_postings' then (select count(*) from postings)
    when 'runs' then 0
    else value
end
