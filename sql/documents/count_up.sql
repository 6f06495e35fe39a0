-- Advance the counters past the accepted documents.
--
-- in   accepted  relation  made by documents/accept
update counters
set value = value + case name
    when 'next_document_id' then (select coalesce(max(number) + 1, 0) from accepted)
    when 'runs' then (select least(count(*), 1) from accepted)
    else 0
end
