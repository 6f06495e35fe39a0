-- How do words, meaning and both together rank the same documents?
select file, words.rank as words, meaning.rank as meaning, both_ways.rank as both_ways
from bm25('gauges reconnect after a network failure', n := 20) as words
full join vsearch('gauges reconnect after a network failure', n := 20) as meaning using (file)
full join hybrid('gauges reconnect after a network failure', n := 20) as both_ways using (file)
order by both_ways nulls last, words nulls last, meaning
