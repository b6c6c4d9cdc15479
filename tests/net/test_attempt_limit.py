"""Failures use up a budget that comes back by itself."""

from __future__ import annotations

from claudekeeper.net.attempt_limit import AttemptLimit


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_too_many_failures_must_wait_and_time_gives_them_back() -> None:
    clock = Clock()
    attempts = AttemptLimit(3, 10.0, clock)
    for _ in range(3):
        assert attempts.retry_after() == 0
        attempts.count_failure()
    seconds = attempts.retry_after()
    assert seconds == 10
    clock.now += seconds
    assert attempts.retry_after() == 0
    attempts.count_failure()
    assert attempts.retry_after() == 10


def test_a_long_quiet_time_gives_back_no_more_than_there_was() -> None:
    clock = Clock()
    attempts = AttemptLimit(2, 1.0, clock)
    clock.now += 1_000
    for _ in range(2):
        assert attempts.retry_after() == 0
        attempts.count_failure()
    assert attempts.retry_after() == 1


def test_a_clock_that_is_set_back_locks_nobody_out() -> None:
    clock = Clock()
    attempts = AttemptLimit(1, 1.0, clock)
    clock.now -= 1_000
    assert attempts.retry_after() == 0
