"""Breaks the packages on purpose, one small fault at a time, and tells which the tests catch.

    python tests/faults.py                  # all faults: about ten minutes
    python tests/faults.py cursor budget    # those whose names begin so
    python tests/faults.py --list           # what would be broken, and where: nothing is run
    python tests/faults.py --clean          # the named tests with nothing broken: all must pass

No test of the suite: run it before and after the tests or the code are rearranged. What was caught
must still be caught. Exit code 0 if every fault is found and caught, else 1.

The sources are copied first, so that nothing here can be left broken. A fault replaces a text that
occurs once in the packages; white space, line breaks and a comma before a bracket do not count, so
that a formatter, or a move to another file, changes nothing here.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

SECONDS = 180
"""Longest that the tests of one fault may take: a fault that makes them hang would be noticed."""

# name, and the tests that should catch it (arguments of pytest, from tests/)
# - the text that is replaced
# + what stands there instead
# and perhaps more such pairs, for sources of another time: the first that fits is taken
FAULTS = r"""
cursor-any-spelling       test_cursor.py -k edit
- if cursor not in ours:
+ if not ours:
cursor-bound-to-nothing   test_cursor.py -k equal_binding
- salt = hashlib.sha256(canonical.encode()).digest()
+ salt = hashlib.sha256(b"").digest()
cursor-never-expires      test_cursor.py -k expires
- unsign(cursor, max_age=self._max_age,
+ unsign(cursor, max_age=None,
cursor-only-newest-key    test_cursor.py -k rotate
- for key in self._keys)
+ for key in self._keys[-1:])
cursor-order-of-keys      test_cursor.py -k equal_binding
- json.dumps(json.loads(to_json(binding)), sort_keys=True)
+ json.dumps(json.loads(to_json(binding)))

budget-over-by-one        test_budget.py
- if count_tokens(text, encoding) <= budget: return n, text
+ if count_tokens(text, encoding) <= budget + 1: return n, text
budget-jumps-too-far      test_budget.py -k neighbours
- max(excess - SLACK, 1)
+ max(excess, 1)
budget-forgets-the-seams  test_budget.py -k no_row_that
- below[n] - SEAMS - budget
+ below[n] - budget
budget-no-next-step       test_budget.py -k note_says
- said.append("Pass next_cursor as cursor for more.")
+ pass
budget-least-is-raised    test_budget.py -k out_of_range
- if value < least:
+ if value <= least:
budget-fit-one-too-few    test_budget.py -k longest_text
- if count_tokens(text, encoding) <= budget: best, low
+ if count_tokens(text, encoding) < budget: best, low
budget-empty-page         test_budget.py -k hosts_mistake
- if not text or count_tokens(text, encoding) > budget:
+ if not text:

shape-colours-stay        test_shape.py -k colour
- text = clean(value)
+ text = value
shape-cut-one-too-long    test_shape.py
- text[: max_chars - 1].rstrip() + ELLIPSIS
+ text[:max_chars].rstrip() + ELLIPSIS
shape-size-of-a-file      test_shape.py -k base64
- * 3 // 4
+ * 4 // 3

payload-not-redacted      test_payload.py -k every_character
- text = redact(text)
+ text = str(text)
payload-skips-one         test_payload.py -k every_character
- "next_offset": end if more else None
+ "next_offset": end + 1 if more else None
payload-no-ceiling        test_payload.py -k ceiling
- clamp("max_chars", max_chars, 1, ceiling)
+ clamp("max_chars", max_chars, 1, 10**30)

redact-check-digit        test_redact.py
- d - 9 if d > 9 else d
+ d - 9 if d > 10 else d
redact-once               test_redact.py -k glued
- MAX_PASSES = 8
+ MAX_PASSES = 1
redact-end-of-the-string  test_redact.py -k cut_off_inside
- mark["quote"] == '"' and at < level:
+ False:

plain-half-a-character    test_tokens.py -k "repair or surrogate"
- "surrogatepass").decode("utf-16-le", "replace")
+ "surrogatepass").decode("utf-16-le", "ignore")
plain-missing-is-zero     test_tokens.py -k reader_expects
- if math.isnan(value): return None
+ if math.isnan(value): return 0.0
plain-keys-collide        test_tokens.py -k honest
- if name in result:
+ if False:
plain-one-level-more      test_tokens.py -k nesting_is_kept
- len(parents) >= MAX_DEPTH
+ len(parents) > MAX_DEPTH
plain-set-in-any-order    test_tokens.py -k a_set
- result.sort(key=_rank)
+ pass
plain-decimal-rounded     test_tokens.py -k decimal
- return as_float if exact else str(value)
+ return as_float

arguments-not-strict      test_tools.py -k refused
- extra="forbid", strict=True
+ extra="forbid", strict=False
arguments-any-digits      test_tools.py -k whole_number
- re.fullmatch(r"[0-9]{1,4000}", value, re.ASCII)
+ re.fullmatch(r"\d{1,4000}", value)
arguments-null-is-a-value test_tools.py -k sure
- if value is not None or name not in self._optional
+ if True
tool-budget-one-too-few   test_tools.py -k over_the_budget
- if size > self.budget:
+ if size >= self.budget:
- (size := count_tokens(result.text)) > self.budget:
+ (size := count_tokens(result.text)) >= self.budget:
tool-offset-is-a-failure  test_order_tools.py -k offset
- except (ToolError, CursorError, OffsetError)
+ except (ToolError, CursorError)
tool-error-as-it-is       test_tools.py -k own_error
- message = " ".join(clean(message).split()) or
+ message = message or

loop-one-turn-more        test_loops.py -k max_steps
- self.turn >= self.max_steps
+ self.turn > self.max_steps
loop-same-limit-again     test_loops.py -k larger_limit
- limit * LARGER
+ limit
loop-id-used-before       test_loops.py -k used_before
- before & {call.id for call in calls}
+ set() & {call.id for call in calls}
loop-forced-for-ever      test_loops.py -k forced_on_the_first
- return "none" if choice == "none" else "auto"
+ return choice
loop-half-an-emoji        test_loops.py -k emoji
- message = mend(reply.message)
+ message = reply.message
- message = _mend(reply.message)
+ message = reply.message
loop-results-not-metered  test_loops.py -k ledger_has
- sum(answer.tokens for answer in answers)
+ len(answers)
execute-third-time        test_execute.py -k third_time
- MOST_FAILURES = 2
+ MOST_FAILURES = 3
execute-slate-stays       test_agent_promises.py -k forgotten
- self._failed.pop(key, None)
+ pass
execute-order-of-keys     test_execute.py -k third_time
- json.dumps(parsed, sort_keys=True,
+ json.dumps(parsed,
execute-one-more-at-once  test_agent_promises.py -k two_at_once
- len(running) < at_once
+ len(running) <= at_once
execute-as-they-ended     test_execute.py -k in_their_order
- return [answers[index] for index in range(len(calls))]
+ return list(answers.values())
execute-late-result       test_agent_promises.py -k after_its_time
- if running.pop(index, None) is not None:
+ if [running.pop(index, None)]:

clearing-unread           test_history.py -k not_read
- seen - max(keep, unread)
+ seen - keep
clearing-a-little         test_history.py -k rounds
- >= max(clear_at_least, 1)
+ >= 1
- least = max(clear_at_least, 1)
+ least = 1
clearing-counts-twice     test_history.py -k count_towards
- size -= freed[upto] - freed[done]
+ pass
clearing-cleared-again    test_history.py -k never_cleared
- stays = name in exclude or text.startswith(CLEARED)
+ stays = name in exclude
clearing-repeat-a-refund  test_history.py -k how_to_get_it_again
- name in read_only)
+ True)
- again if name in read_only else "Do not repeat
+ again if True else "Do not repeat
window-moves-every-turn   test_history.py -k moves_by_several
- max(len(found) - turns, 0) // every * every
+ max(len(found) - turns, 0)
window-no-system-prompt   test_history.py -k window_keeps
- kept = [message for message in messages[:start] if is_system(message)]
+ kept = []
- kept = [message for message in messages[:start] if _is_system(message)]
+ kept = []
window-orphaned-results   test_history.py -k accepts
- [_without_results(api, message) for message in messages[begin:end]]
+ messages[begin:end]
- api.with_results(message, gone) if gone else message
+ message
summary-system-prompt     test_history.py -k never_the_system
- [i for i in range(start) if not is_system(view[i])]
+ list(range(start))
- [i for i in range(start) if not _is_system(view[i])]
+ list(range(start))
summary-asked-again       test_history.py -k made_once
- if key not in self._known:
+ if True:

cache-no-steps            test_bill.py -k steps
- shared // STEP * STEP
+ shared
cache-looks-too-far       test_bill.py -k twenty
- max(mark - LOOKBACK + 1, 0)
+ max(mark - LOOKBACK, 0)
cache-a-moment-too-long   test_bill.py -k "forgets or its_own_time"
- entry.until > now
+ entry.until >= now
cache-not-refreshed       test_bill.py -k its_own_time
- entry.until = now + entry.lifetime
+ pass
usage-writes-left-out     test_bill.py -k does_not_depend
- "input_tokens", needed=True) + read + write
+ "input_tokens", needed=True) + read
price-of-an-hour          test_bill.py -k an_hour
- LONG_WRITE = 2
+ LONG_WRITE = 1
ledger-not-cumulative     test_bill.py -k one_ledger
- total += used.input
+ total = used.input
spending-not-held         test_loops.py -k pass_a_limit_together
- self.spent + self._held + worst > self.most
+ self.spent + worst > self.most
spending-refused-is-paid  test_loops.py -k refused_call_is_free
- Decimal(0) if getattr(error, "status_code", None) else self._cost
+ self._cost
edit-cost-never-pays      test_bill.py -k only_adds
- ceil(extra / saved) if saved > 0 else None
+ ceil(extra / saved) if saved else None

transcript-last-answer    test_transcript.py -k first_answer
- INSERT OR IGNORE INTO answers
+ INSERT OR REPLACE INTO answers
transcript-older-answers  test_agent_promises.py -k used_again
- WHERE session = ? AND seq = ?
+ WHERE session = ? AND seq <= ?
transcript-any-history    test_transcript.py -k another_history
- if list(messages[: len(saved)]) != saved:
+ if False:
transcript-for-everybody  test_transcript.py -k its_owner
- os.O_CREAT | os.O_RDWR, 0o600
+ os.O_CREAT | os.O_RDWR, 0o644
transcript-run-again      test_transcript.py -k only_a_tool_that_reads
- if call.name in read_only]
+ if True]

stream-openai-breaks-off  test_streaming.py -k breaks_off
- if stop is None: raise StreamError("the stream ended before its finish_reason
+ if False: raise StreamError("the stream ended before its finish_reason
stream-openai-one-index   test_streaming.py -k "muddled or refused"
- if call.shared and not call.complete()
+ if False and not call.complete()
stream-two-objects        test_streaming.py -k refused
- if text.strip()[end:].lstrip().startswith("{"):
+ if False:
stream-seam-of-an-emoji   test_streaming.py -k "streamed_and or survives"
- return repair("".join(pieces))
+ return "".join(pieces)
stream-anthropic-guess    test_streaming.py -k malformed
- {UNPARSED: text} if value is None else value
+ value or {}
stream-anthropic-open     test_streaming.py -k no_sense
- if any(not block.closed for block in blocks):
+ if False:
stream-anthropic-blank    test_streaming.py test_loops.py -k "survives or whatever_a_model"
- block["type"] != "text" or block["text"].strip()
+ True

rules-openai-id-twice     test_wire.py -k broken_rule
- if id in seen: yield
+ if False: yield
rules-openai-answer-twice test_wire.py -k broken_rule
- if id not in waiting: yield f"{at}.tool_call_id: {id} has
+ if False: yield f"{at}.tool_call_id: {id} has
rules-anthropic-first     test_wire.py -k broken_rule
- if waiting and any(
+ if False and any(
rules-anthropic-thinking  test_wire.py -k thinking
- if id in issued and thinking != list(issued[id]):
+ if False:
scripted-window           test_scripted.py -k over_the_window
- if total > self.window:
+ if total >= self.window:
scripted-writes-are-input test_scripted.py -k cached
- "input_tokens": total - cached - written
+ "input_tokens": total - cached
scripted-ids-meet         test_scripted.py -k ids
- self._calls = first + count - 1
+ self._calls = 0
scripted-disobeys         test_scripted.py -k tool_choice
- _obey(*dialect.choice(body), reply)
+ pass
- _obey(*endpoint.choice(body), reply)
+ pass
scripted-failure-retried  test_scripted.py -k policy_that_fails
- "x-should-retry": "false"
+ "x-should-retry": "true"

limits-output-one-too-few test_host_functions.py -k kept_up_to
- if flood or self._bound > most:
+ if flood or self._bound >= most:
- if flood or self._tokens > most:
+ if flood or self._tokens >= most:
limits-one-call-more      test_host_functions.py -k are_counted
- if self.count > self._limits.host_calls:
+ if self.count > self._limits.host_calls + 1:
- if self.count == self._limits.host_calls:
+ if self.count > self._limits.host_calls:
- if self.host_calls == self.limits.host_calls:
+ if self.host_calls > self.limits.host_calls:
host-secret-in-an-error   test_host_functions.py -k loses_its_paths
- redact(clean(message))
+ clean(message)
host-inner-message        test_host_functions.py -k says_no_more
- raise HostError("RuntimeError", told)
+ raise HostError("RuntimeError", str(error))
- "RuntimeError", f"{told}. This is not caused by your arguments."
+ "RuntimeError", str(error)
host-values-not-plain     test_host_functions.py -k plain_json
- return plain(self.function(**checked))
+ return self.function(**checked)
registry-path-taken       test_registry.py -k registered_once
- if added.path in self._functions:
+ if False:
- if added.path in self.functions:
+ if False:
search-own-name-last      test_registry.py -k first_by_the_words
- SELECT name != ?, bm25
+ SELECT name = ?, bm25
search-only-small-words   test_registry.py -k first_by_the_words
- if word not in STOP_WORDS] or asked
+ if word not in STOP_WORDS]
- if word not in _STOP_WORDS] or asked
+ if word not in _STOP_WORDS]
values-counted-once       test_sandbox.py test_python_sandbox.py -k "far_over or stays_small"
- (part, times + deeper.get(id(part), (None, 0))[1])
+ (part, 1)
stubs-none-by-default     test_stubs.py -k whole_text
- if parameter.default is None:
+ if False:
- if default is None:
+ if False:
stubs-all-keys-required   test_stubs.py -k may_be_missing
- optional = required is not None and name not in required
+ optional = False
- getattr(record, "__required_keys__", hints)
+ hints
python-right-code-refused test_python_sandbox.py -k right_code
- None if hasattr(builtins, names[0]) else ""
+ ""
javascript-named-lost     test_javascript.py -k arguments_by_name
- [] if named else args, args[0] if named else {}
+ args, {}
- ([], args[0]) if len(args) == 1 and isinstance(args[0], dict) else (args, {})
+ (args, {})
javascript-long-number    test_javascript.py -k would_round
- EXACT = 2**53 - 1
+ EXACT = 2**80
- _EXACT = 2**53 - 1
+ _EXACT = 2**80
sandbox-source-too-long   test_sandbox.py -k source
- len(code) > self.limits.source_chars
+ len(code) > self.limits.source_chars + 1
- len(code) > limits.source_chars
+ len(code) > limits.source_chars + 1
render-calls-not-undone   test_execute_tool.py -k half_way
- if run.error and run.host_calls:
+ if False:

audit-error-of-estimate   test_audit.py -k sizes
- (self.estimate - exact) / exact
+ (self.estimate - exact) / self.estimate
- (self.estimate - self.exact) / self.exact
+ (self.estimate - self.exact) / self.estimate
audit-fits-one-too-few    test_audit.py -k any_rows
- count_tokens(f"[{','.join(texts[:n])}]", encoding) <= budget
+ count_tokens(f"[{','.join(texts[:n])}]", encoding) < budget
- count_tokens(f"[{','.join(texts[:n])}]") <= budget
+ count_tokens(f"[{','.join(texts[:n])}]") < budget
audit-page-over-budget    test_audit.py -k "pages or page"
- if used + n > budget:
+ if used > budget:
- if used + tokens > budget:
+ if used > budget:
audit-constant-by-chance  test_audit.py -k "small_file or each_kind"
- CONSTANT_ROWS = 5
+ CONSTANT_ROWS = 500
audit-largest-saving-last test_audit.py -k each_kind
- key=lambda advice: -advice.saves
+ key=lambda advice: advice.saves
audit-key-twice-unsaid    test_audit.py -k not_quite_json
- += len(result) < len(items)
+ += 0
audit-map-of-rows         test_audit.py -k rows_are_found
- MAP_ENTRIES = 10
+ MAP_ENTRIES = 1_000

orders-row-repeated       test_orders_store.py -k listing_agrees
- placed_at < ? OR order_id < ?
+ placed_at < ? OR order_id <= ?
orders-ranges-share-a-row test_orders_store.py -k adjoining
- "placed_at < ?": self.placed_before
+ "placed_at <= ?": self.placed_before
orders-bound-outwards     test_orders_store.py -k "listing_agrees or mean_the_same"
- ("min_amount", ROUND_CEILING)
+ ("min_amount", ROUND_FLOOR)
orders-last-page-too-soon test_order_tools.py -k exactly_once
- if n == len(rows) and not more:
+ if n == len(rows):
orders-note-not-redacted  test_order_tools.py -k secret_in_a_note
- [_safe(row) for row in found[:limit]], len(found) > limit
+ [dict(row) for row in found[:limit]], len(found) > limit
orders-anybodys-cursor    test_order_tools.py -k another_filter_or
- "caller": caller
+ "caller": ""
orders-too-many-for-code  test_order_functions.py -k should_hold
- if total > most:
+ if total > most + 1:
crm-every-tenant          test_crm.py -k another_tenants_row
- ["tenant = ?", *where]
+ ["(tenant = ? OR TRUE)", *where]
crm-any-scope-will-do     test_crm.py -k exactly_its_scopes
- [scope for scope in scopes if scope not in caller.scopes]
+ [] if caller.scopes else list(scopes)
crm-salary-in-a-row       test_crm_isolation.py -k "nothing_that_can_be_read"
- if name != "salary"
+ if name != "nothing"
crm-cursor-of-a-listing   test_crm.py -k good_only_for
- "where": where, "order": [*order, descending]
+ "order": [*order, descending]
crm-page-after-the-end    test_crm.py -k every_row_once
- "total": total, "next_cursor": following}
+ "total": total, "next_cursor": following or ""}

oracle-sees-no-gap        test_bench_sessions.py -k recall_of_forty
- self.gap = LEFT_OUT in texts
+ self.gap = False
- self.gap = LEFT_OUT in said
+ self.gap = False
judge-recoverable         test_bench_sessions.py -k recall_of_forty
- "recoverable" if calls else "correct"
+ "correct"
- "recoverable" if further else "correct"
+ "correct"
judge-notes-too-many      test_code_mode.py -k TestOracle
- if more := got - wanted:
+ if more := got - got:
judge-due-today           test_code_mode.py -k TestOracle
- and task["due_on"] < TODAY
+ and task["due_on"] <= TODAY
judge-end-of-a-cut-text   test_tokens_per_turn.py -k end_of_a_text
- pattern.endswith("$") and not whole
+ False
checks-a-raise-is-right   test_answers.py
- correct = False
+ correct = True
- correct, said = False, ""
+ correct, said = True, ""
checks-old-key-stays      test_answers.py -k n03
- and not reads(
+ and reads(
- and not _reads(
+ and _reads(
runner-hidden-folders     test_runner.py -k reading_order
- if not any(part.startswith(".") for part in p.relative_to(root).parts)
+ if True
- return any(part.startswith(".") for part in path.relative_to(root).parts)
+ return False
"""


class Fault(NamedTuple):
    name: str
    tests: list[str]  # arguments of pytest
    edits: list[tuple[str, str]]  # what is replaced, and by what


class Place(NamedTuple):
    path: Path
    line: int
    broken: str  # the whole file with the fault in it


def faults(text: str = FAULTS) -> list[Fault]:
    """The table, read."""
    found: list[Fault] = []
    for line in filter(None, text.splitlines()):
        if line[:2] == "- ":
            found[-1].edits.append((line[2:], ""))
        elif line[:2] == "+ ":
            found[-1].edits[-1] = (found[-1].edits[-1][0], line[2:])
        else:
            name, *tests = shlex.split(line)
            found.append(Fault(name, tests, []))
    return found


def pattern(text: str) -> re.Pattern:
    """Finds `text` however it is wrapped."""
    parts = [re.escape(part) for part in re.findall(r"\w+|\S", text)]
    loose = [rf",?\s*{part}" if part in (r"\)", r"\]", r"\}") else part for part in parts]
    start = r"(?<!\w)" if re.match(r"\w", text) else ""
    return re.compile(start + r"\s*".join(loose) + (r"(?!\w)" if re.search(r"\w$", text) else ""))


def place(fault: Fault, src: Path) -> Place | str:
    """Where the fault belongs, or why there is no one place."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(src.rglob("*.py"))}
    why = "text not found"
    for old, new in fault.edits:
        found = [(path, m) for path, text in texts.items() for m in pattern(old).finditer(text)]
        if len(found) == 1:
            ((path, match),) = found
            before, after = texts[path][: match.start()], texts[path][match.end() :]
            return Place(path, before.count("\n") + 1, before + new + after)
        if found:
            where = ", ".join(path.relative_to(src).as_posix() for path, _ in found)
            why = f"text in {len(found)} places ({where})"
    return why


def copied(to: Path) -> Path:
    """The checkout at `to`: packages and tests copied, data and notebooks linked."""
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.name not in ("src", "tests") and not path.name.startswith("."):
            (to / path.name).symlink_to(path)
    return to


def write(path: Path, text: str) -> None:
    """Writes a source file, at a time of its own: Python tells its byte code's age in seconds."""
    then = path.stat().st_mtime
    path.write_text(text, encoding="utf-8")
    os.utime(path, (then + 2, then + 2))


def run(tests: list[str], root: Path) -> tuple[str, str]:
    """What pytest says of some tests: "passed", "failed", or that they are not there; and its last
    lines.
    """
    # without the plugins that these tests do not need: half of the start
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-o", "addopts="]
    command += [
        option
        for name in ("cacheprovider", "faker", "nbval", "xdist")
        for option in ("-p", f"no:{name}")
    ]
    env = os.environ | {"PYTHONPATH": str(root / "src"), "HYPOTHESIS_PROFILE": "faults"}
    named = [f"tests/{test}" if test.endswith(".py") else test for test in tests]
    try:
        done = subprocess.run(
            [*command, *named], cwd=root, env=env, timeout=SECONDS,
            capture_output=True, text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "failed", f"(more than {SECONDS} seconds)"
    said = {0: "passed", 1: "failed", 5: "no such tests"}
    return said.get(done.returncode, "tests did not start"), done.stdout[-2_000:] + done.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="beginnings of faults' names")
    parser.add_argument("--list", action="store_true", help="show the faults, and run nothing")
    parser.add_argument("--clean", action="store_true", help="run their tests, and break nothing")
    options = parser.parse_args()
    wanted = [fault for fault in faults() if fault.name.startswith(tuple(options.names) or "")]
    if not wanted:
        parser.error("no fault has such a name: see --list")
    missed = []
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        root = copied(Path(folder))
        for fault in wanted:
            started, at = time.monotonic(), place(fault, root / "src")
            if isinstance(at, str):
                verdict, said = at, ""
            elif options.list:
                verdict, said = f"{at.path.relative_to(root)}:{at.line}", ""
            elif options.clean:
                verdict, said = run(fault.tests, root)
            else:
                sound = at.path.read_text(encoding="utf-8")
                write(at.path, at.broken)
                verdict, said = run(fault.tests, root)
                write(at.path, sound)
                verdict = {"failed": "caught", "passed": "NOT CAUGHT"}.get(verdict, verdict)
            good = verdict in ("caught", "passed") or ":" in verdict
            seconds = "" if options.list else f"  {time.monotonic() - started:.0f} s"
            print(f"{fault.name:26}{verdict}{seconds}", flush=True)
            if not good:
                missed.append(fault.name)
                print(*(f"    {line}" for line in said.splitlines()[-12:]), sep="\n", flush=True)
    print(
        f"{len(wanted) - len(missed)} of {len(wanted)}{'; not ' * bool(missed)}{', '.join(missed)}"
    )
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
