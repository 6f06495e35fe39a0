-- Lock all settings. It cannot be undone.
set lock_configuration = true
