-- Add the content of the accepted documents, once for each hash, long texts last.
--
-- DuckDB stores a long text in blocks beside that of its row, and such blocks belong to one block of rows: the
-- last one of them is half empty.
--
-- in   texts  relation  hash text, body text, outline: as in `content`, but texts and targets have U+001E
--                        between two; no hash twice
insert into content
select
    hash,
    body,
    {
        'kinds': outline.kinds,
        'lines': outline.lines,
        'texts': case when outline.kinds = '' then [] else string_split(outline.texts, chr(30)) end,
        'targets': case when outline.kinds = '' then [] else string_split(outline.targets, chr(30)) end
    } as outline
from texts
where
    hash in (select hash from accepted)
    and hash not in (select hash from content where hash in (select hash from accepted))
order by strlen(body) > @inline
