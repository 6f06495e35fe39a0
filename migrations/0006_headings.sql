-- A line that a tab indents is code and no heading, which outlines until now took for one.

-- Those that may say so are made anew by the next update.
update content
set outline = null
where regexp_matches(body, '(^|\n) {0,2}[\t\r][ \t\r]{0,2}#');
