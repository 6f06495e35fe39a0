"""Documentation site: pages of the project and references made of the code, as one folder of HTML.

`python -m tools.site`, which `make site` calls, writes the pages for the generator, runs it, and
checks each link of what it built. The navigation stands in `mkdocs.yml`.
"""
