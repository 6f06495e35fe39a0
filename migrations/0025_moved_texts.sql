-- What an update of a large index needs to group the texts that have changed without reading those of all others.

-- Keys of the buckets of a signature, 32 bits each: a quarter of its size. Empty: too few words; null: from before.
alter table sketches add column buckets uinteger[];

-- Texts that a document has left since the texts were grouped.
create table left_texts (
    hash text not null                     -- of the content; may be here several times
);

insert into left_texts
select hash
from sketches
anti join documents using (hash);

insert into left_texts
select leader
from copies
left join documents using (hash)
group by leader
having count(document_id) < 2;
