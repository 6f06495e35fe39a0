-- Plan of a query.
--
-- in   $query         text  put in as text, on lines of its own
-- out  explain_key    text
-- out  explain_value  text
explain
$query
