-- A word whose stem in the language of its document has the term of the word had two postings there.
-- Documents up to the last in another language get their postings anew.

update counters
set value = greatest(value, coalesce(
    (select max(document_id) + 1 from documents where lang <> 'en'), 0
))
where name = 'stale_postings';

-- Outlines gave tags of several words, `#[[two words]]`, wrong lines behind links of HTML.
update content
set outline = null
where
    contains(outline.kinds, 't')
    and (contains(body, '#[[') or hash in (select hash from text_pieces));
