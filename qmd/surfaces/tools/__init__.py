"""Tools for agents, independent of the protocol."""
