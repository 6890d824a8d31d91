"""What stands around the notebooks: examples, benchmarks, checks of exercises, figures, and the
runner.

Nothing here is meant to be lifted; what is, is the package ``toolresults``, which never imports
this one.
"""

from workbook.paths import data_path

__all__ = ["data_path"]
