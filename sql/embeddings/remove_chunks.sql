-- Remove the chunks of a model.
--
-- in   $model_id     integer
-- in   $collections  json?    array of names: only of texts that their documents have
delete from chunks
where
    model_id = $model_id
    and (
        $collections is null
        or hash in (
            select hash
            from documents
            where list_contains(from_json($collections, '["VARCHAR"]'), collection)
        )
    )
