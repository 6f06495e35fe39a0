-- Check that a text is of an accepted document, and not stored.
--
-- in   accepted  relation  made by documents/accept
-- in   $hash     text
-- out  wanted    boolean
select
    exists (from accepted where hash = $hash)
    and not exists (from content where hash = $hash) as wanted
