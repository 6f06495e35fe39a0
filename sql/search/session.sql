-- What a search asks for, in tables of its connection.
create temp table asked_words (word text, head text);
create temp table asked_terms (clause integer, weight double, term_id bigint);
create temp table asked_elements (phrase integer, place integer, term_id bigint);
create temp table asked_phrases (
    clause integer, weight double, document_id uinteger, frequency double, length uinteger
);
create temp table allowed (document_id uinteger);
create temp table banned (document_id uinteger);
create temp table asked (filtered boolean, wanted integer);
