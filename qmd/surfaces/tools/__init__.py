"""What agents can ask for, whatever protocol brings the question."""
