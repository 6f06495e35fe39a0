-- The documents that a search may answer with.
--
-- in   $collections  json?       array of names
-- in   $since        timestamp?  of this moment or later
-- in   $before       timestamp?  from before this moment
-- in   $conditions   json?       array of {path, operator, value} on the frontmatter, all to hold
-- in   $required     json?       array of arrays of document_id, each to contain it
insert into allowed
select document_id
from documents
where
    ($collections is null or list_contains(from_json($collections, '["VARCHAR"]'), collection))
    and ($since::timestamp is null or dated >= $since::timestamp)
    and ($before::timestamp is null or dated < $before::timestamp)
    and (
        $required is null
        or list_bool_and(
            list_transform(
                from_json($required, '[["UINTEGER"]]'), lambda ids: list_contains(ids, document_id)
            )
        )
    )
    and (
        $conditions is null
        or (
            select bool_and(
                case condition.operator
                    when '=' then list_contains(held, condition.value)
                    when '!=' then not list_contains(held, condition.value)
                    when '~' then list_bool_or(
                        list_transform(held, lambda one: contains(lower(one), lower(condition.value)))
                    )
                    when '<' then list_bool_or(list_transform(held, lambda one: one < condition.value))
                    when '<=' then list_bool_or(list_transform(held, lambda one: one <= condition.value))
                    when '>' then list_bool_or(list_transform(held, lambda one: one > condition.value))
                    when '>=' then list_bool_or(list_transform(held, lambda one: one >= condition.value))
                end
            )
            from (
                select
                    condition,
                    case
                        when json_type(metadata, condition.path) = 'ARRAY'
                            then list_transform(
                                from_json(json_extract(metadata, condition.path), '["JSON"]'),
                                lambda one: one ->> '$'
                            )
                        when json_type(metadata, condition.path) is null then []
                        else [json_extract_string(metadata, condition.path)]
                    end as held
                from (
                    select unnest(
                        from_json(
                            $conditions,
                            '[{"path": "VARCHAR", "operator": "VARCHAR", "value": "VARCHAR"}]'
                        )
                    ) as condition
                )
            )
        )
    )
