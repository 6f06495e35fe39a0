"""Surfaces: adapters derived from operations, and rendering.

Arguments of people and programs come in, rendered results go out.
May import, besides the ground floor, `errors` and `text`: `evaluation`, `operations`,
`settings.environment`, and result types of the rooms below.
"""
