-- Text of a statement from its syntax tree.
--
-- in   $tree  text  JSON, as sandbox/tree gives it
-- out  text   text
select json_deserialize_sql($tree::json) as text
