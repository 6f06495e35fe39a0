-- Index the copied vectors by HNSW.
--
-- Source: Malkov, Yashunin, IEEE TPAMI 2020. Vectors have length 1, so that the inner product
-- orders them as the cosine does.
create index near on shortcut.copied using hnsw (vector) with (metric = 'ip')
