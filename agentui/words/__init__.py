"""The words by which texts are found again: cutting a text into them, and ranking texts by them.

    text ──cut──▶ words ──▶ an index of either engine        query ──cut──▶ words ──▶ candidates ──bm25──▶ order

Both engines store what was cut here and rank nothing themselves, so that the same data gives the same order on both.
"""
