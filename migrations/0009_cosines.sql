-- Cosines of passages that have nothing to do with each other, beside which others are judged.

create table cosines (
    model_id utinyint not null,            -- of embedding_models; unique
    mean double not null,
    spread double not null                 -- standard deviation, above 0
);
