"""The HTTP server: MCP, and the tools as plain JSON."""
