-- Syntax tree of a statement, if it is a query. Nothing is looked up, opened or run.
--
-- in   $text  text
-- out  tree   text  JSON: statements; or error, error_type, error_message;
--                   empty, if the message is cut within a character
select json_serialize_sql($text, skip_null := true, skip_empty := true, skip_default := true)
    as tree
