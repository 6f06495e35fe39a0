-- Detach the file with resolved links. After they were put in, this is its checkpoint.
detach qmd_links
