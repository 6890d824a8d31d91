"""The experiments behind the workbook's figures: exact, seeded, the same on every machine."""
