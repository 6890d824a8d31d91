"""The craft of a tool result that fits: cursors, shaping, budgets, payloads, redaction.

Nothing here knows what the rows are about. The folder and `tokens.py` can be copied into another
project as they are; `cursor`, `redact` and `shape` need no other file of the folder, `budget` needs
`shape`, `payload` needs those two and `redact`.
"""
