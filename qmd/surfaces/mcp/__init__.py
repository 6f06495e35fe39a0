"""The Model Context Protocol: the tools for agents that speak it."""
