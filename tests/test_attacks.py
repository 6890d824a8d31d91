"""Every attack on a sandbox is held: by its limit, in its time, with nothing leaked and nothing left behind."""

import importlib
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from attacks import ANY, CANARY, LIMITS, files, functions
from toolresults.codemode.sandbox import open_sandbox
from toolresults.tokens import count_tokens, to_json

MARGIN = 2.0
"""Seconds that a run may take beyond its limit: to start a process and to end one, on two busy cores."""

SECRETS = (CANARY, "/srv/app", os.getcwd(), sys.prefix, "site-packages", str(Path.home()) + "/", "Traceback")

LANGUAGES = ("python", "javascript")

PATIENT = replace(LIMITS, seconds=10)

CASES = [
    pytest.param(language, attack, id=f"{language}: {attack.name}")
    for language in LANGUAGES
    for attack in importlib.import_module(f"attacks_{language}").ATTACKS
]


def limits(attack):
    """Little time for what only time can stop, and much for the rest: a busy machine must not look like a limit."""
    by_itself = attack.error or attack.stopped and "time" not in attack.stopped
    return PATIENT if by_itself or attack.value is not ANY or attack.printed is not ANY else LIMITS


@pytest.fixture(scope="module")
def sandboxes(tmp_path_factory):
    """The sandboxes for all attacks, by language and limits: what one attack does to them, the next would see."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CANARY", CANARY)
        folder = files(tmp_path_factory.mktemp("host"))
        made = {
            (language, limits): open_sandbox(language, functions(language), limits=limits, files=folder)
            for language in LANGUAGES
            for limits in (LIMITS, PATIENT)
        }
        yield made
        for sandbox in made.values():
            sandbox.close()


def check_clean(run):
    text = to_json([run.printed, run.value, run.error])
    assert not [secret for secret in SECRETS if secret in text]
    assert len(run.error or "") <= 600
    assert count_tokens(run.printed) + count_tokens(to_json(run.value)) <= LIMITS.output_tokens + 1  # + null
    assert run.host_calls <= LIMITS.host_calls


@pytest.mark.parametrize(("language", "attack"), CASES)
def test_attack_is_held(language, attack, sandboxes):
    sandbox = sandboxes[language, limits(attack)]
    started = time.monotonic()
    run = sandbox.run(attack.code)
    assert time.monotonic() - started < limits(attack).seconds + MARGIN
    check_clean(run)
    if attack.stopped:
        assert run.stopped in attack.stopped.split("|"), run
    elif attack.error:
        assert run.stopped is None and attack.error in (run.error or ""), run
    else:
        assert run.error is None, run
        assert attack.value is ANY or run.value == attack.value
        assert attack.printed is ANY or run.printed == attack.printed

    after = importlib.import_module(f"attacks_{language}").AFTER
    run = sandbox.run(after.code)
    assert (run.error, run.printed) == (None, after.printed)


def test_there_are_sixty_attacks_and_more():
    assert len(CASES) >= 60 and len({case.id for case in CASES}) == len(CASES)
