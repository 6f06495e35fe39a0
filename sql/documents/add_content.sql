-- Add the content of the accepted documents, once for each hash, long texts last.
--
-- DuckDB stores a long text in blocks beside that of its row, and such blocks belong to one block of rows: the
-- last one of them is half empty.
--
-- in   texts  relation  hash text, body text, outline: as in `content`; no hash twice
insert into content
select hash, body, outline
from texts
where hash in (select hash from accepted) and hash not in (select hash from content)
order by strlen(body) > @inline
