"""What people and models touch."""
