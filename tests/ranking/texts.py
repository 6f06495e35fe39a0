"""A text and an edition of it, for tests of near-duplicates."""

TEA = """# Tea guide

Green tea is steeped at seventy degrees for two minutes in a warmed pot. Black tea takes boiling
water and four minutes. White tea is gentle: seventy five degrees and three minutes are enough.
Always warm the pot before, and never let leaves stand in water that is still boiling, since they
turn bitter. Store leaves dry, dark and away from spices; an open tin keeps its aroma for a month.
"""

EDITED = TEA.replace("four minutes", "five minutes")
