"""A shop's order system: its data, its store, its HTTP API, and the tools that stand in front of
them.
"""
