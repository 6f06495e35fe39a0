-- Which documents have no vectors yet?
select file, words
from documents
anti join embeddings using (file)
order by file
