"""Declaration of operations: how one is recorded, and the parameters that several share.

An annotated function comes in, a description of it goes out, from which surfaces are derived.
May import: the ground floor, `errors` and `text`.
"""
