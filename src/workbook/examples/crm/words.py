"""What people call the things that the real functions do: search words, by path, which no model is
ever shown.

A docstring says what a function does in the service's own words ("overdue", "approval"). These are
the words of those who ask for it: other names of the object, other verbs, what they want to know. A
change here changes no definition and no stub, and so costs no tokens.
"""

WORDS = {
    "crm.list_tasks": "to-do, todos, chores, action items, work left, pending jobs, late, behind schedule, "
    "past the deadline, due soon, workload, find",
    "crm.add_note": "comment, remark, memo, write down, jot, record, log a call, leave a message, remember, annotate",
    "crm.get_customer": "client, account, buyer, company details, contact person, mail address, look up, profile, "
    "who to write to",
    "crm.complete_task": "finish, finished, tick off, check off, close, to-do, resolve, accomplished",
    "crm.task_summary": "how many to-dos, workload, busiest, who has the most work, late work per person, behind, "
    "statistics, number of jobs, overview",
    "crm.get_task": "to-do, action item, job, look up, details, deadline, who is responsible",
    "crm.create_task": "add a to-do, new action item, assign work, remind somebody, follow-up, schedule a job, "
    "set up, make, give somebody something to do",
    "crm.reassign_task": "hand over, transfer, delegate, pass to a colleague, change owner, responsible, take over, "
    "to-do, somebody else",
    "crm.postpone_task": "delay, put off, push back, defer, reschedule, later deadline, extend, more time, "
    "move the date, to-do",
    "crm.list_notes": "comments, remarks, memos, history, log, what was said, conversation, last contact, read, find, "
    "written by",
    "crm.list_customers": "clients, accounts, buyers, companies, customer base, find, look up by name, "
    "who do we sell to, which country",
    "crm.update_customer": "edit, correct, modify, client, account, new contact person, new mail address, "
    "account manager, hand over, upgrade",
    "crm.list_deals": "opportunities, sales, offers, prospects, leads, orders, biggest, large contracts, won, lost, "
    "closing soon, find",
    "crm.get_deal": "opportunity, sale, offer, look up, details, value, how much is it worth, status",
    "crm.create_deal": "add an opportunity, new sale, new lead, enter, register, prospect, start",
    "crm.move_deal": "opportunity, progress, advance, mark as won, mark as lost, close, signed, change status, "
    "next step, pipeline",
    "crm.pipeline_summary": "funnel, forecast, expected revenue, total value, how much is open, opportunities, "
    "sales figures, turnover, overview",
    "hr.list_employees": "staff, people, colleagues, workers, coworkers, personnel, directory, members of a team, "
    "who works here, find somebody",
    "hr.get_employee": "colleague, person, staff member, worker, contact details, profile, job, boss, supervisor, "
    "look up, mail",
    "hr.list_teams": "departments, groups, units, divisions, headcount, size, how many people, number of staff, "
    "biggest",
    "hr.org_chart": "hierarchy, boss, supervisor, manager, subordinates, direct reports, reporting line, structure, "
    "organisation, tree, who leads",
    "hr.get_salary": "pay, paid, wage, earn, earnings, income, compensation, money a person makes",
    "hr.payroll_summary": "wages, pay, cost of staff, personnel expenses, average salary, total compensation, "
    "labour costs, per department, earn",
    "hr.list_approvals": "requests, holidays, vacation, time off, absences, expense claims, waiting, pending, "
    "sign-off, to decide, permission",
    "hr.decide_approval": "accept, decline, refuse, deny, grant, sign off, authorise, say yes or no, holiday, "
    "vacation, expense claim, confirm",
    "hr.request_leave": "holiday, vacation, time off, day off, absence, apply, book, take free, away, PTO",
    "reports.list_reports": "dashboards, analyses, statistics, overviews, which ones exist, available, find, show",
    "reports.run_report": "execute, open, show, figures, numbers, refresh, generate, analysis, dashboard, statistics, "
    "current results",
    "reports.save_report": "create, new, store, keep, define, set up, make, dashboard, analysis, bookmark",
    "reports.delete_report": "remove, erase, get rid of, discard, throw away, drop, clean up, dashboard",
}
"""Five to twelve words or short phrases for each path of `functions.FUNCTIONS`."""
