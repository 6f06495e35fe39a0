-- Where the sandbox keeps what it needs itself, apart from the views.
create schema memory.qmd
