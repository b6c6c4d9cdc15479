"""Which words make a session that plans begin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claudekeeper.routing.start_words import MAX_COMMAND_LENGTH, starts_work

BEGINS = """
Now implement it
implement it
Implement the plan
implement the plan, step by step
start implementing
Go ahead and build it
go ahead
ok, build it now
Looks good, go ahead.
Great. Now implement this with tests.
please start the implementation
proceed
Perfect, implement everything
let's build it
Can you implement it now?
do it
go for it
Yes, proceed with the plan
exit plan mode
Approved. Start coding.
begin implementation
now code it up
Make it so
I approve the plan
Implement it in TypeScript
execute the plan
now implement the approved plan
write the code
start working on it
Now implement it and write tests
now implement the till
setz es jetzt um
bitte jetzt umsetzen!
den Plan umsetzen
now implement it 🚀
👍 go ahead
**Now implement it** :)
leg los
vas-y
hazlo
приступай
开始实现
実装してください
구현해줘
""".strip().splitlines()
DOES_NOT = """
implement it in the plan
❌ implement it
🚫 do it
don't implement yet
Don’t implement it yet
Do not implement it
before you implement it, list the risks
how would you implement it?
should we implement it?
is it built?
plan to implement it
Add the tests to the plan
write the plan
make a plan
make the plan shorter
update the plan
go ahead and refine the plan
go ahead with planning
keep planning
what if we build it with go?
if it is cheap, implement it
implement it later
not yet, refine it
wait
explain how to implement it
implement the login form in shop.py
fix the bug in auth
can you build it into the plan?
describe the build
build a second plan
/implement it
"implement it" is what he said
continue
I would not build it
Show me what you would do
implementiere es noch nicht
ne l'implémente pas encore
todavía no, espera
не делай
先不要实现
まだ実装しないで
""".strip().splitlines()


@pytest.mark.parametrize("words", BEGINS)
def test_these_words_begin(words: str) -> None:
    assert starts_work(words)
    assert starts_work(f"  {words.upper()} ")


@pytest.mark.parametrize("words", DOES_NOT)
def test_these_words_do_not(words: str) -> None:
    assert not starts_work(words)


@pytest.mark.parametrize("words", BEGINS)
def test_a_word_against_it_is_enough(words: str) -> None:
    assert not starts_work(f"{words}, but not yet")
    assert not starts_work(f"{words} once it is in the plan")


def test_a_whole_task_is_none() -> None:
    assert not starts_work(
        "Now implement it. " + "The till counts coins. " * (MAX_COMMAND_LENGTH // 20)
    )


@given(st.text(max_size=200))
def test_any_words_are_judged(words: str) -> None:
    assert starts_work(words) in (True, False)
