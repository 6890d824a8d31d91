"""Step 1 of the workbook on the reader's own data: how large is it, what weighs, and what to do
first.

    from toolresults.audit.report import audit_file
    report = audit_file("orders.json")
    report.to_dict()["advice"]

`load` reads and parses, `rows` finds the rows, `measure` counts, `advise` says what to do, `report`
puts it together (and documents the keys of `--json`), `show` prints it.
"""
