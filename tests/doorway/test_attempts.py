"""Failures use up a budget that comes back by itself."""

from __future__ import annotations

from doorway.attempts import Attempts


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_too_many_failures_must_wait_and_time_gives_them_back() -> None:
    clock = Clock()
    attempts = Attempts(3, 10.0, clock)
    for _ in range(3):
        assert attempts.wait() == 0
        attempts.count()
    seconds = attempts.wait()
    assert seconds == 10
    clock.now += seconds
    assert attempts.wait() == 0
    attempts.count()
    assert attempts.wait() == 10


def test_a_long_quiet_time_gives_back_no_more_than_there_was() -> None:
    clock = Clock()
    attempts = Attempts(2, 1.0, clock)
    clock.now += 1_000
    for _ in range(2):
        assert attempts.wait() == 0
        attempts.count()
    assert attempts.wait() == 1


def test_a_clock_that_is_set_back_locks_nobody_out() -> None:
    clock = Clock()
    attempts = Attempts(1, 1.0, clock)
    clock.now -= 1_000
    assert attempts.wait() == 0
