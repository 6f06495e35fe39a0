-- Plan of a query, with measured costs.
--
-- in   $query         text  put in as text, on lines of its own
-- out  explain_key    text
-- out  explain_value  text
explain analyze
$query
