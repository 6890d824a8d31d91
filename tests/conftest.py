"""Settings for every test: kernels that do not depend on the user's home, and property tests that
repeat.
"""

import os
import shutil
import tempfile

import pytest
from hypothesis import Phase, settings

# its assertions show what they compared, as those of a test file do
pytest.register_assert_rewrite("attack_runs")

# The same examples in each run, and no deadline, since CI's cores are shared.
# HYPOTHESIS_PROFILE=explore looks further.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=1_000, deadline=None)
# for tests/faults.py: that a test fails is all it wants to know, and not the smallest example
settings.register_profile(
    "faults", derandomize=True, deadline=None, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


def pytest_configure(config):
    """nbval's kernels inherit this: a fixed hash seed, and no start-up files from the user's
    IPython profile.
    """
    profile = tempfile.mkdtemp(prefix="toolresults-ipython-")
    config.add_cleanup(lambda: shutil.rmtree(profile, ignore_errors=True))
    os.environ.update(PYTHONHASHSEED="0", IPYTHONDIR=profile, PYDEVD_DISABLE_FILE_VALIDATION="1")
