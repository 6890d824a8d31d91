"""The benchmark of counting: one text, two counters, the same tokens."""

from workbook.bench import counting


def test_both_counters_agree_on_the_text_that_is_timed(monkeypatch):
    monkeypatch.setattr(counting, "SIZE", 200_000)
    seen = counting.measure(rounds=1)
    assert seen["characters"] == 200_000
    assert seen["tokens"] > 40_000
    assert seen["ratio"] > 0
