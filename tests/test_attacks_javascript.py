"""Every attack on the JavaScript sandbox is held by its limit, in its time: nothing is leaked,
nothing left behind.
"""

import pytest

from attack_runs import check_held, chosen, under_attack
from attacks_javascript import AFTER, ATTACKS


@pytest.fixture(scope="module")
def played(request, tmp_path_factory):
    with under_attack(
        "javascript", chosen(request), AFTER, tmp_path_factory.mktemp("host")
    ) as played:
        yield played


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack_is_held(attack, played):
    check_held(attack, played(attack), AFTER)


def test_there_are_sixty_attacks_and_more():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 60
