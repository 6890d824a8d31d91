"""``python -m toolresults`` is the ``toolresults`` command."""

from toolresults.cli import main

if __name__ == "__main__":
    main()
