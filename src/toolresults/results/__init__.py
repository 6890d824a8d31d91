"""The craft of a tool result that fits: cursors, shaping, budgets, payloads, redaction.

Nothing here knows what the rows are about. Each file stands alone beside `tokens.py` and can be copied into another
project as it is.
"""
