-- Which documents are most like the newest one that has vectors?
with one as (
    select file, model, vector
    from embeddings
    where file = (
        select file from embeddings join documents using (file) order by date desc, file limit 1
    )
)

select round(max(list_inner_product(other.vector, one.vector)), 3) as cosine, other.file
from embeddings as other
join one on other.model = one.model and other.file <> one.file
group by other.file
order by cosine desc, other.file
limit 10
