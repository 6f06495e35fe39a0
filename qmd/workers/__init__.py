"""Processes that work for this one, with bounds on their time and memory.

Two pipes join both: `process` is the end that asks, `serving` the one that answers, and `channel`
is the messages. May import, besides the ground floor, `errors`.
"""
