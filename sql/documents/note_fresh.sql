-- Note from which document on all postings are by the rules of now; those added since are in no order.
--
-- in   $stale  integer  lower numbers may have other postings; 0: none has
update counters
set value = case name
    when 'stale_postings' then $stale
    when 'merged_postings' then 0
    when 'runs' then value + 1
    else value
end
