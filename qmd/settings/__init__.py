"""Settings: index.yml, environment variables, approval.

Files and variables come in, settings go out.
May import: the ground floor, `errors` and `text`.
"""
