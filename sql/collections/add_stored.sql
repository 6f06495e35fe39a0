-- Add a collection that is stored in the index: without a folder, and not in index.yml.
--
-- in   $collection  text
insert into collections (
    name, root, mask, ignored, included, follow_symlinks, respect_gitignore, converted
)
values ($collection, '', '**/*', [], true, false, false, [])
