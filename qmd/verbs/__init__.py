"""What an engine can do, a file for each kind."""
