-- The documents that a search may answer with.
--
-- in   $among       json  what has to hold, each if it is there:
--                          {collections: array of names,
--                           since: timestamp, of this moment or later,
--                           before: timestamp, from before this moment,
--                           conditions: array of {path, operator, value, quoted} on the
--                               frontmatter, all to hold; always there,
--                           path: regular expression for collection/path,
--                           title: regular expression for a part of the folded title}
-- in   $banned      json  array of document_id: not these
-- out  document_id  integer
select document_id
from documents
where
    (
        ($among -> 'collections') is null
        or list_contains(from_json($among -> 'collections', '["VARCHAR"]'), collection)
    )
    and (($among ->> 'since') is null or dated >= ($among ->> 'since')::timestamp)
    and (($among ->> 'before') is null or dated < ($among ->> 'before')::timestamp)
    and (
        ($among ->> 'path') is null
        or regexp_full_match(nfc_normalize(collection || '/' || path), $among ->> 'path')
    )
    and (
        ($among ->> 'title') is null
        or regexp_matches(
            -- the letters that text/tokenizer.py folds, and the mark that stretches words of Arabic
            replace(replace(replace(replace(replace(translate(
                lower(strip_accents(title)),
                'đøłıħŧƀɓɖɗɨȷƚɵʉŋɛɔðſĸىةیےۓٱکڪګہھۀۂەۃςµำຳـ',
                'dolihtbbddijlouneodskيهييياكككههههههσμาາ'
            ), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'ß', 'ss'), 'և', 'եւ'),
            $among ->> 'title'
        )
    )
    and document_id not in (select unnest(from_json($banned, '["UINTEGER"]')))
    and (
        json_array_length($among -> 'conditions') = 0
        or (
            select bool_and(
                coalesce(
                    case condition.operator
                        when '=' then list_contains(orders, 0)
                        when '==' then list_bool_or(
                            list_transform(held, lambda one: lower(one) = lower(condition.value))
                        )
                        when '!=' then not list_contains(orders, 0)
                        when '<' then list_contains(orders, -1)
                        when '<=' then list_has_any(orders, [-1, 0])
                        when '>' then list_contains(orders, 1)
                        when '>=' then list_has_any(orders, [0, 1])
                        when '~' then list_bool_or(
                            list_transform(
                                held, lambda one: contains(lower(one), lower(condition.value))
                            )
                        )
                    end,
                    false
                )
            )
            from (
                select
                    condition,
                    held,
                    list_transform(
                        held,
                        lambda one: case
                            when one is null then null
                            when number is not null and try_cast(one as decimal(38, 12)) is not null
                                then
                                    case
                                        when try_cast(one as decimal(38, 12)) < number then -1
                                        when try_cast(one as decimal(38, 12)) > number then 1
                                        else 0
                                    end
                            when one < wanted then -1
                            when one > wanted then 1
                            else 0
                        end
                    ) as orders
                from (
                    select
                        condition,
                        case
                            when not condition.quoted
                                then try_cast(condition.value as decimal(38, 12))
                        end as number,
                        case
                            when is_tag then lower(condition.value)
                            else condition.value
                        end as wanted,
                        case
                            -- those of the text, too, and none that is written in two ways
                            when is_tag then list_transform(tags, lambda one: lower(one))
                            when lower(condition.path) in ('$."lang"', '$."language"') and lang is not null
                                then list_distinct([
                                    lang,
                                    coalesce(json_extract_string(metadata, condition.path), lang)
                                ])
                            when json_type(metadata, condition.path) = 'ARRAY'
                                then list_transform(
                                    from_json(json_extract(metadata, condition.path), '["JSON"]'),
                                    lambda one: one ->> '$'
                                )
                            when json_type(metadata, condition.path) is null then []
                            else [json_extract_string(metadata, condition.path)]
                        end as held
                    from (
                        select
                            condition,
                            tags is not null
                            and lower(condition.path) in ('$."tags"', '$."tag"') as is_tag
                        from (
                            select unnest(
                                from_json(
                                    $among -> 'conditions',
                                    '[{
                                        "path": "VARCHAR", "operator": "VARCHAR",
                                        "value": "VARCHAR", "quoted": "BOOLEAN"
                                    }]'
                                )
                            ) as condition
                        )
                    )
                )
            )
        )
    )
order by document_id
