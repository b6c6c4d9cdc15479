"""Prose: a text as one line, without Markdown and without what is not readable on one line.

Markdown loses its marks. Code, tables, pasted output of programs and pasted markup are left out; a
prompt gets a placeholder for each.
"""

from __future__ import annotations

import re

# of a text only the beginning is needed: the result is a sentence or two
MAX_INPUT_LENGTH = 20_000
# how many lines between lines of output may look like words and still belong to it
MAX_LINES_BETWEEN = 2

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# drawn lines
_BOX_DRAWING = re.compile(r"[─-╿▀-▟]{2,}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FENCE = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# an element on lines of its own, with others in it: a pasted document
_TAG_NAME = r"[A-Za-z][\w:.-]*"
_MARKUP_DOCUMENT = re.compile(
    rf"^[ \t]*<({_TAG_NAME})(?:\s[^<>]*)?>[ \t]*\n(?=[^\n]*<)(?:.*\n)*?[ \t]*</\1>[ \t]*$",
    re.MULTILINE,
)
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_TAG = re.compile(rf"<(/?)({_TAG_NAME})(?:\s[^<>]*?)?(/?)>")
_VOID_TAGS = frozenset({"br", "hr", "img", "input", "wbr", "source", "col"})
_INLINE_TAGS = frozenset({
    "a", "b", "code", "em", "i", "kbd", "mark", "q", "s", "small", "span", "strong", "sub", "sup",
    "u",
})  # fmt: skip
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
# stands for inline code
_CODE_PLACEHOLDER = re.compile("\0(\\d+)\0")

# a line that a program printed, or that was typed into one
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
    """A text on one line, at most so many characters; a prompt names what was left out of it."""
    text = (text or "")[:MAX_INPUT_LENGTH].replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub(" ", _ESCAPES.sub("", text))
    placeholders = {
        name: f"\n[{name}]\n" if with_placeholders else "\n\n"
        for name in ("code", "table", "pasted output", "pasted markup")
    }
    text = _FENCE.sub(placeholders["code"], text)
    if not with_placeholders:
        text = _BOX_DRAWING.sub(" ", text)
    text = _MARKUP_DOCUMENT.sub(placeholders["pasted markup"], _COMMENT.sub(" ", text))
    text, snippets = _cut_out_code(text)
    text = _strip_tags(_URL.sub(r"\1", text))
    lines = _replace_tables(text.split("\n"), placeholders["table"].strip())
    if with_placeholders:
        lines = _replace_output(lines, placeholders["pasted output"].strip())
    words = _put_back_code(_join_lines(lines), snippets)
    words = " ".join(_BOX_DRAWING.sub(" ", words).split())
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def strip_markdown(text: str) -> str:
    """The same lines without the marks of Markdown and markup: a list stays one."""
    text, snippets = _cut_out_code(_CONTROL.sub(" ", _ESCAPES.sub("", text)))
    text = _strip_tags(_URL.sub(r"\1", text))
    lines = [" ".join(_strip_marks(line).split()) for line in text.split("\n")]
    return _put_back_code("\n".join(lines), snippets)


def _cut_out_code(text: str) -> tuple[str, list[str]]:
    """The text with placeholders for inline code, which must not lose its marks."""
    snippets: list[str] = []

    def replace(match: re.Match[str]) -> str:
        snippets.append(match[2].strip())
        return f"\0{len(snippets) - 1}\0"

    return _CODE.sub(replace, text), snippets


def _put_back_code(text: str, snippets: list[str]) -> str:
    return _CODE_PLACEHOLDER.sub(lambda match: snippets[int(match[1])], text)


def _strip_tags(text: str) -> str:
    """The text without tags; what is never closed is none: `git switch <branch>`, `Map<String>`."""
    closed = {match[2].lower() for match in _TAG.finditer(text) if match[1]}

    def replace(match: re.Match[str]) -> str:
        name = match[2].lower()
        is_tag = match[1] or match[3] or name in closed or name in _VOID_TAGS
        if not is_tag:
            return match[0]
        return "" if name in _INLINE_TAGS else " "

    return _TAG.sub(replace, text)


def _replace_tables(lines: list[str], placeholder: str) -> list[str]:
    result: list[str] = []
    in_table = False
    for index, line in enumerate(lines):
        if in_table and "|" in line:
            continue
        in_table = False
        below = lines[index + 1] if index + 1 < len(lines) else ""
        if "|" in line and "|" in below and _TABLE_DELIMITER.match(below):
            in_table = True
            result += ["", placeholder, ""]
        else:
            result.append(line)
    return result


def _replace_output(lines: list[str], placeholder: str) -> list[str]:
    """The lines with a placeholder for two or more lines of a program's output."""
    result: list[str] = []
    index = 0
    while index < len(lines):
        end = _output_end(lines, index)
        if end is None:
            result.append(lines[index])
            index += 1
        else:
            result += ["", placeholder, ""]
            index = end
    return result


def _output_end(lines: list[str], start: int) -> int | None:
    """The end of the output that begins on this line; None if none does."""
    if not _OUTPUT_LINE.match(lines[start]):
        return None
    printed, between, end = 1, 0, start + 1
    for index in range(start + 1, len(lines)):
        line = lines[index]
        if _OUTPUT_LINE.match(line):
            printed, between, end = printed + 1, 0, index + 1
        elif between == 0 and end == index and _INDENTED_LINE.match(line):
            end = index + 1
        elif between < MAX_LINES_BETWEEN:
            between += 1
        else:
            break
    return end if printed > 1 else None


def _join_lines(lines: list[str]) -> str:
    """The lines as sentences, with punctuation in place of the layout."""
    text = ""
    separator, after_item = " ", False
    for line in lines:
        if not line.strip() or _RULE.match(line):
            # a paragraph ends here
            separator = ". " if text and separator == " " else separator
            continue
        heading, item = _HEADING.match(line), _LIST_ITEM.match(line)
        words = _QUOTE_PREFIX.sub("", heading[1] if heading else line)
        words = _strip_marks(
            _LIST_ITEM.sub(lambda match: f"{match[1]} " if match[1] else "", words)
        ).strip()
        if not words:
            continue
        if heading:
            separator = ". "
        elif item and separator != ": ":
            # a colon before the first item
            separator = "; " if after_item else ": "
        if text:
            text += " " if _SENTENCE_END.search(text) or text.endswith("]") else separator
        text += words
        separator, after_item = ": " if heading else " ", item is not None
    return text


def _strip_marks(line: str) -> str:
    """A line of Markdown without its marks."""
    line = _LINK.sub(r"\1", _IMAGE.sub(r"\1", line))
    for _ in range(3):
        bare = _EMPHASIS.sub(r"\2", line)
        if bare == line:
            break
        line = bare
    return _ITALIC_UNDERSCORE.sub(r"\1", _ITALIC.sub(r"\1", line))
