"""Code that a model wrote, run next to the data: sandboxes for Python and JavaScript, and a
registry of functions.
"""
