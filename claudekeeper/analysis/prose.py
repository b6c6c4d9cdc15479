"""Words run together to one line, without what is only there for the eye or for a machine.

Markdown keeps its words and loses its marks. Code, tables, pasted output of programs and pasted
markup say nothing when they are run together: they are left out, and of a prompt it is said that
something was there.
"""

from __future__ import annotations

import re

# of a text so much is looked at: what is told of it is a sentence or two
MAX_INPUT_LENGTH = 20_000
# how many lines in between may look like words and belong to the output all the same
MAX_LINES_BETWEEN = 2

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# lines drawn across the page
_BOX_DRAWING = re.compile(r"[─-╿▀-▟]{2,}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FENCE = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# an element that stands on lines of its own and holds others: a pasted document
_TAG_NAME = r"[A-Za-z][\w:.-]*"
_MARKUP_DOCUMENT = re.compile(
    rf"^[ \t]*<({_TAG_NAME})(?:\s[^<>]*)?>[ \t]*\n(?=[^\n]*<)(?:.*\n)*?[ \t]*</\1>[ \t]*$",
    re.MULTILINE,
)
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_TAG = re.compile(rf"<(/?)({_TAG_NAME})(?:\s[^<>]*?)?(/?)>")
_VOID_TAGS = frozenset({"br", "hr", "img", "input", "wbr", "source", "col"})
_INLINE_TAGS = frozenset(
    [
        "a",
        "b",
        "code",
        "em",
        "i",
        "kbd",
        "mark",
        "q",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "u",
    ]
)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_LINK = re.compile(r"\[([^\]\n]+)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_URL = re.compile(r"<((?:https?|mailto|file):[^<>\s]+)>")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*$")
_RULE = re.compile(r"^\s*(?:[-*_=]\s*){3,}$")
_QUOTE_PREFIX = re.compile(r"^\s*(?:>\s?)+")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+•]\s+(?:\[[ xX~]\]\s+)?|(\d{1,3}[.)])\s+)")
# `__init__` is a name
_EMPHASIS = re.compile(r"(\*\*\*|\*\*|__(?=[^_\s]+\s)|~~)(?=\S)(.+?)(?<=\S)\1")
_ITALIC = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])")
_ITALIC_UNDERSCORE = re.compile(r"(?<![\w_])_(?=[^\s_])([^_\n]+?)(?<=[^\s_])_(?![\w_])")
_TABLE_DELIMITER = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_SENTENCE_END = re.compile(r"[.!?…。？！:;,：；，–—-][\"'”’»)\]*_]*$")
# code as it stood, while marks are taken away around it
_CODE_PLACEHOLDER = re.compile("\0(\\d+)\0")

# a line of these is printed by a program, or typed at one
_OUTPUT_LINE = re.compile(
    r"""\s*(?:
      (?:\$|❯|➜|»|PS\ [A-Z]:\\[^>\n]*>|[\w.-]+@[\w.-]+[:~\s][^\n$\#%]{0,80}[$\#%])\s+\S
    | at\s+\S.{0,200}[:(]\d+ | File\ ".+",\ line\ \d+ | Traceback\ \(most\ recent
    | \^+~*\s*$ | goroutine\ \d+ | -->\s\S+:\d+ | \d+\s*[|│]\s | [|│]\s*(?:\^|$)
    | \[?\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d | \[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?\s
    | \[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|CRITICAL)\]?[\s:]
    | npm\ (?:ERR!|error|warn|notice)\s | (?:error|warning|fatal|panic|note|help)(?:\[\w+\])?:\s
    | (?:FAIL(?:ED|URE)?|PASS(?:ED)?|ok|not\ ok|E|✓|✔|✗|✘|✕|×|√)\s+\S+ | =+\ .*\ =+$
    | [A-Z]\w*(?:Error|Exception|Warning|Interrupt)(?:\ \[\w+\])?(?::\s|$)
    | [d-](?:[r-][w-][xsStT-]){3}[.@+]?\s | total\ \d+$
    | (?:diff\ --git|index\ [0-9a-f]{7}|@@\ -|---\ a/|\+\+\+\ b/)
    | [\w./\\@-]+\.\w{1,6}:\d+(?::\d+)?[:\s] | \S+\s+\d+%\s*[|\[]
    | [├└│┌┐┘┤┬┴┼─━═║╔╗╚╝╭╮╰╯▀-▟]
    | [⏺●⎿✻✽⏵]\s
    | [{}\[\]()]+[,;]?\s*$ | "[^"\n]+"\s*:\s*\S
    )""",
    re.VERBOSE,
)
_INDENTED_LINE = re.compile(r"(?:\t|\s{2,})\S")


def prose(text: str | None, most: int, *, with_placeholders: bool = False) -> str:
    """The words on one line, at most so many characters; of a prompt also what it held else."""
    text = _ESCAPES.sub(
        "", (text or "")[:MAX_INPUT_LENGTH].replace("\r\n", "\n").replace("\r", "\n")
    )
    text = _CONTROL.sub(" ", text)
    place = {
        name: f"\n[{name}]\n" if with_placeholders else "\n\n"
        for name in ("code", "table", "pasted output", "pasted markup")
    }
    text = _FENCE.sub(place["code"], text)
    if not with_placeholders:
        text = _BOX_DRAWING.sub(" ", text)
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[2].strip())
        return f"\0{len(kept) - 1}\0"

    text = _MARKUP_DOCUMENT.sub(place["pasted markup"], _COMMENT.sub(" ", text))
    text = _CODE.sub(keep, text)
    text = _strip_tags(_URL.sub(r"\1", text))
    lines = _replace_tables(text.split("\n"), place["table"].strip())
    if with_placeholders:
        lines = _replace_output(lines, place["pasted output"].strip())
    words = _CODE_PLACEHOLDER.sub(lambda found: kept[int(found[1])], _join_lines(lines))
    words = " ".join(_BOX_DRAWING.sub(" ", words).split())
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def strip_markdown(text: str) -> str:
    """The same lines without the marks of Markdown and markup: a list stays one."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[2].strip())
        return f"\0{len(kept) - 1}\0"

    bare = _strip_tags(_URL.sub(r"\1", _CODE.sub(keep, _CONTROL.sub(" ", _ESCAPES.sub("", text)))))
    lines = [" ".join(_strip_marks(line).split()) for line in bare.split("\n")]
    return _CODE_PLACEHOLDER.sub(lambda found: kept[int(found[1])], "\n".join(lines))


def _strip_tags(text: str) -> str:
    """What nothing closes is not known to be a tag: `git switch <branch>`, `Map<String, int>`."""
    closed = {found[2].lower() for found in _TAG.finditer(text) if found[1]}

    def replaced(found: re.Match[str]) -> str:
        name = found[2].lower()
        is_tag = found[1] or found[3] or name in closed or name in _VOID_TAGS
        if not is_tag:
            return found[0]
        return "" if name in _INLINE_TAGS else " "

    return _TAG.sub(replaced, text)


def _replace_tables(lines: list[str], instead: str) -> list[str]:
    whole: list[str] = []
    in_table = False
    for at, line in enumerate(lines):
        if in_table and "|" in line:
            continue
        in_table = False
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if "|" in line and "|" in below and _TABLE_DELIMITER.match(below):
            in_table = True
            whole += ["", instead, ""]
        else:
            whole.append(line)
    return whole


def _replace_output(lines: list[str], instead: str) -> list[str]:
    """Two lines of a program's output, or more, are no words of a person's."""
    whole: list[str] = []
    at = 0
    while at < len(lines):
        end = _output_end(lines, at)
        if end is None:
            whole.append(lines[at])
            at += 1
        else:
            whole += ["", instead, ""]
            at = end
    return whole


def _output_end(lines: list[str], start: int) -> int | None:
    """Where the output ends that begins on this line; None where none does."""
    if not _OUTPUT_LINE.match(lines[start]):
        return None
    printed, between, end = 1, 0, start + 1
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if _OUTPUT_LINE.match(line):
            printed, between, end = printed + 1, 0, at + 1
        elif between == 0 and end == at and _INDENTED_LINE.match(line):
            end = at + 1
        elif between < MAX_LINES_BETWEEN:
            between += 1
        else:
            break
    return end if printed > 1 else None


def _join_lines(lines: list[str]) -> str:
    """Lines as sentences: what was told apart by its place is told apart by a sign."""
    said = ""
    apart, after_item = " ", False
    for line in lines:
        if not line.strip() or _RULE.match(line):
            # a paragraph ends here
            apart = ". " if said and apart == " " else apart
            continue
        heading, item = _HEADING.match(line), _LIST_ITEM.match(line)
        words = _QUOTE_PREFIX.sub("", heading[1] if heading else line)
        words = _strip_marks(
            _LIST_ITEM.sub(lambda found: f"{found[1]} " if found[1] else "", words)
        ).strip()
        if not words:
            continue
        if heading:
            apart = ". "
        elif item and apart != ": ":
            # the first one, after what leads to it
            apart = "; " if after_item else ": "
        if said:
            said += " " if _SENTENCE_END.search(said) or said.endswith("]") else apart
        said += words
        apart, after_item = ": " if heading else " ", item is not None
    return said


def _strip_marks(line: str) -> str:
    """A line of Markdown without its marks."""
    line = _LINK.sub(r"\1", _IMAGE.sub(r"\1", line))
    for _ in range(3):
        bare = _EMPHASIS.sub(r"\2", line)
        if bare == line:
            break
        line = bare
    return _ITALIC_UNDERSCORE.sub(r"\1", _ITALIC.sub(r"\1", line))
