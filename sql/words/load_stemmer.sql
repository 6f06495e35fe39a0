-- Load the fts extension, for stem().
--
-- in   $path     text      of its binary; put in as text, since load takes no parameters
load $path
