-- A word whose stem in the language of its document has the term of the word had two postings there,
-- words of scripts with marks, such as those of Hindi, had no stems, and words of Arabic that of their article.
-- Documents up to the last in another language get their postings anew.

update counters
set value = greatest(value, coalesce(
    (select max(document_id) + 1 from documents where lang <> 'en'), 0
))
where name = 'stale_postings';

-- Outlines gave tags of several words, `#[[two words]]`, wrong lines behind links of HTML, and ended
-- tags of Hindi and other scripts at the first mark of a letter.
update content
set outline = null
where
    contains(outline.kinds, 't')
    and (
        contains(body, '#[[')
        or regexp_matches(outline.texts, '[^\x00-\x7f]')
        or hash in (select hash from text_pieces)
    );
