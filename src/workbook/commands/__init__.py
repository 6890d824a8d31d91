"""The subcommands of `workbook`, a module each, imported only when they are called."""
