-- Disable access to files and everything else outside. It cannot be undone.
set enable_external_access = false
