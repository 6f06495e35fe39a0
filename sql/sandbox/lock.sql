-- Change no setting any more. It cannot be undone.
set lock_configuration = true
