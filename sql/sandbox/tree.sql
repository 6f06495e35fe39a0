-- Syntax tree of a statement, complete, so that statements can be made of its parts.
--
-- in   $text  text
-- out  tree   text  JSON
select json_serialize_sql($text) as tree
