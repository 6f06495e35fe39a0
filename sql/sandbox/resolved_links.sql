-- The view `links`, over the file with resolved links. See sql/views/links.sql.
create view links as
from qmd_links.links
