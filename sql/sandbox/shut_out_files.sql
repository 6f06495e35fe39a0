-- Open no file any more, nor anything else outside. It cannot be undone.
set enable_external_access = false
