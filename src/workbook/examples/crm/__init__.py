"""A company's CRM and HR back end: its data, its service layer, and the functions that a model's
code may call.
"""
