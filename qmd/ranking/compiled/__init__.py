"""Compiled products of vectors (Cython).

`code_products` compares a query with vectors of one byte a number, for `ranking/vector_codes.py`.
Without a compiler, qmd compares the vectors themselves by numpy: with the same results, and five
times the processor time.
"""
