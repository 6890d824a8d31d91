"""``python -m workbook`` is the ``workbook`` command."""

from workbook.cli import main

if __name__ == "__main__":
    main()
