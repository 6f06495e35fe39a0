"""Compiled parts of searches (Cython).

`code_products` compares a query with vectors of one byte a number, for `ranking/vector_codes.py`.
Without a compiler, qmd compares the vectors themselves by numpy: with the same results, and five
times the processor time.

`line_words` finds the words of a query in lines, for snippets: plain Python takes three times as
long, and a process that ends after one command uses it.

`posting_search` searches a mapped sidecar of postings for `ranking/mapped_postings.py`. Without a
compiler, commands read the tables.
"""
