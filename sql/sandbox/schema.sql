-- Schema of the sandbox's own tables, separate from the views.
create schema memory.qmd
