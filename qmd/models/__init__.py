"""Models: which there are, where their files are, and what runs them."""
