-- Give texts their outlines.
--
-- in   made  relation  hash text, outline: as in `content`, but texts and targets have U+001E between two;
--                       no hash twice
update content
set outline = given.outline
from (
    select
        hash,
        {
            'kinds': outline.kinds,
            'lines': outline.lines,
            'texts': case when outline.kinds = '' then [] else string_split(outline.texts, chr(30)) end,
            'targets': case when outline.kinds = '' then [] else string_split(outline.targets, chr(30)) end
        } as outline
    from made
) as given
where content.hash = given.hash and content.outline is null
