"""Models: registry, files, and the runtimes that execute them.

Texts come in; vectors, scores and texts go out.
May import, besides the ground floor, `errors` and `text`: `settings`.
"""
