"""Step 1 of the workbook on the reader's own data: how large is it, what weighs, and what to do
first.

    from toolresults.audit.show import audit_file
    report = audit_file("orders.json")
    report.to_dict()["advice"]

`load` reads a file and finds its rows, `weigh` counts, `advise` says what to do, `show` makes the
report of it: for programs (it documents the keys of `--json`), and for people.
"""
