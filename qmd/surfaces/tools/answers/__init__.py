"""Answers of the tools, by subject: each takes a call, and gives the reply."""
