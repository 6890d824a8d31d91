"""The systems that the workbook's tools stand in front of."""
