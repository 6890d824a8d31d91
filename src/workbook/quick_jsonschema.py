"""Imported before ``nbformat``, this saves some three seconds of start-up.

``nbformat`` imports ``jsonschema``, which compiles the grammar of internationalised addresses (RFC
3987) if it finds the optional package ``rfc3987_syntax``, which JupyterLab brings along. Notebooks
have no field in that format: let it find none.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
