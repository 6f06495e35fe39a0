-- What readers have made of files before.
--
-- in   $asked  json   array of digest and reader, with a blank between
-- out  digest  text
-- out  reader  text
-- out  hash    text?  of the content; null: it could not be read
-- out  said    text   JSON
-- out  body    text?
select readings.digest, reader, readings.hash, said::text as said, body
from readings
left join content on readings.hash = content.hash
where
    digest || ' ' || reader in (select unnest(from_json($asked, '["VARCHAR"]')))
    and (readings.hash is null or body is not null)
