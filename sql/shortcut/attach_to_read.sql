-- Attach a copy of the vectors of one model.
--
-- in   $path  text  of the file; put in as text, since this takes no parameters
attach $path as shortcut (read_only)
