-- Write rows of one collection to a Parquet file, whose folder tells the collection.
--
-- in   $rows        statement  put in as text
-- in   $key         name       column that numbers them; put in as text
-- in   $first       bigint     number of the first
-- in   $last        bigint     of the last
-- in   $collection  text
-- in   $path        text       the file
copy (
    select * exclude (collection)
    from ($rows)
    where $key between $first and $last and collection = $collection
) to $path (format parquet, compression zstd, compression_level 1, dictionary_size_limit 1)
