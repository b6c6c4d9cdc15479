"""Words with something attached are found as grep finds them, in every script that attaches."""

from __future__ import annotations

import unicodedata
from itertools import product
from pathlib import Path

import pytest

from claudekeeper.search.index_worker import update_index
from claudekeeper.search.query import QueryTerm
from tests.search.test_searcher import find_hits, names
from tests.support.grep_scan import grep
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder

# what is looked for, and what people write: it stands alone, with particles, endings, in compounds
WRITTEN = {
    "Korean": (
        ("파일", "설정", "코드", "값", "앱", "키", "서버", "데이터"),
        ("{}", "{}을", "{}은", "{}이", "{}에서", "{}들의", "새{}", "로그{}에", "{}시스템", "{}1"),
    ),
    "Japanese": (
        ("設定", "値", "ファイル", "変える", "ﾌｧｲﾙ", "佐々木"),
        ("{}", "{}を", "この{}は", "新{}の", "PDF{}"),
    ),
    "Chinese": (("文件", "值", "配置"), ("{}", "这个{}的", "改{}", "{}夹")),
    "Thai": (("ไฟล์", "ค่า", "โค้ด"), ("{}", "{}นี้", "ใน{}", "เปิด{}ใหม่")),
    "Lao": (("ຄ່າ", "ລະຫັດ"), ("{}", "{}ນີ້", "ໃນ{}")),
    "Khmer": (("ឯកសារ", "តម្លៃ"), ("{}", "{}នេះ", "ក្នុង{}")),
    "Burmese": (("ဖိုင်", "တန်ဖိုး"), ("{}", "{}ကို", "ဒီ{}")),
    "Hindi": (("फ़ाइल", "मान", "की", "कोड", "घर"), ("{}", "{}ें", "{}ों को", "नव{}")),
    "Bengali": (("ফাইল", "কাজ", "ঘর", "বই"), ("{}", "{}ের", "{}গুলো", "{}টি")),
    "Tamil": (("கோப்பு", "குறி", "தரவு", "மன", "பட"), ("{}", "{}கள்", "{}க்கு", "{}களில்", "புதிய{}")),
    "Kannada": (("ಕಡತ", "ಮನ"), ("{}", "{}ದಲ್ಲಿ", "{}ಗಳು")),
    "Malayalam": (("ഫയൽ", "കഥ"), ("{}", "{}യിൽ", "{}ത്തിൽ")),
    "Sinhala": (("ගොනුව", "ගම"), ("{}", "{}ට", "{}වල")),
    "Telugu": (("ఫైల్", "విలువ", "కథ"), ("{}", "{}ను", "{}లో", "కొత్త{}")),
    "Turkish": (("dosya", "İşlem", "değer"), ("{}", "{}lar", "{}larımızdan", "{}’nin", "ana{}")),
    "Finnish": (("tiedosto", "määritys"), ("{}", "{}ssa", "{}issamme", "loki{}n", "{}kaan")),
    "Hungarian": (("fájl", "érték"), ("{}", "{}ban", "{}okból", "{}jainkat", "napló{}")),
    "Basque": (("fitxategi", "kode"), ("{}", "{}aren", "{}etatik", "iturburu-{}")),
    "Swahili": (("faili", "soma"), ("{}", "ma{}", "ana{}", "wali{}eni")),
    "Georgian": (("ფაილი", "კოდი"), ("{}", "{}სთვის", "{}ში", "ახალ{}")),
    "Armenian": (("Ֆայլ", "կոդ"), ("{}", "{}ում", "{}երից", "նոր{}ը")),
    "Mongolian": (("файл", "утга"), ("{}", "{}уудын", "{}аас", "шинэ{}")),
    "Kazakh": (("құжат", "код"), ("{}", "{}тардың", "{}ымыз", "жаңа{}")),
    "Hebrew": (("קובץ", "דף", "קוד"), ("{}", "ה{}", "ב{}", "{}ים", "{}ו")),
    "Arabic": (("ملف", "خط", "قيمة"), ("{}", "ال{}", "وب{}", "{}ات", "{}نا")),
    "Amharic": (("ፋይል", "ቤት", "ኮድ"), ("{}", "የ{}", "{}ዎች", "ከ{}ው")),
    "Inuktitut": (("ᐃᓪᓗ", "ᐃᓄ"), ("{}", "{}ᒃᑯᑦ", "{}ᖃᖅᑐᖅ")),
}


def write_all() -> None:
    transcript = TranscriptWriter()
    for words, forms in WRITTEN.values():
        for word, form in product(words, forms):
            transcript.prompt(f"… {form.format(word)} …")
            transcript.reply(f"({form.format(word).upper()})")
    transcript.write(projects_folder())


def test_what_attaches_to_a_word_hides_it_nowhere(isolated: Path) -> None:
    write_all()
    index = isolated / "words.db"
    update_index(index, [projects_folder()])
    missed = {
        (script, word): lost
        for script, (words, _) in WRITTEN.items()
        for word in words
        if (lost := grep(projects_folder(), word) - names(find_hits(index, word, limit=200)))
    }
    assert missed == {}


def test_a_korean_word_with_a_particle_is_the_word(isolated: Path) -> None:
    transcript = TranscriptWriter()
    alone = transcript.prompt("파일 하나")
    inside = transcript.prompt("로그파일을 지워")
    attached = transcript.prompt("파일을 지워")
    transcript.write(projects_folder())
    update_index(isolated / "words.db", [projects_folder()])
    hits = find_hits(isolated / "words.db", "파일")
    assert [(hit.uuid, hit.inside) for hit in hits] == [
        (attached, False),
        (alone, False),
        (inside, True),
    ]


def test_korean_of_macos_is_found_as_it_is_typed(isolated: Path) -> None:
    transcript = TranscriptWriter()
    apart = unicodedata.normalize("NFD", "새파일을.txt")
    uuids = {
        transcript.prompt(f"ls: {apart} 파일"),
        transcript.prompt(apart),
        transcript.prompt("파일"),
    }
    transcript.write(projects_folder())
    update_index(isolated / "words.db", [projects_folder()])
    for query in ("파일", unicodedata.normalize("NFD", "파일")):
        hits = find_hits(isolated / "words.db", query)
        assert {hit.uuid for hit in hits} == uuids
        assert [piece.text for piece in hits[-1].snippet if piece.match] == ["파일"]


def test_a_short_latin_word_is_found_with_a_korean_particle(isolated: Path) -> None:
    transcript = TranscriptWriter()
    attached = transcript.prompt("DB를 옮겨")
    alone = transcript.prompt("the DB is full")
    transcript.prompt("DBA, dbus 없이")
    transcript.write(projects_folder())
    update_index(isolated / "words.db", [projects_folder()])
    hits = names(find_hits(isolated / "words.db", "DB"))
    assert hits == {(SESSION_ID, attached), (SESSION_ID, alone)}


def test_of_a_very_short_word_the_whole_ones_come_first(isolated: Path) -> None:
    transcript = TranscriptWriter()
    alone = transcript.prompt("키 하나")
    attached = transcript.prompt("로그키에 키를")
    transcript.write(projects_folder())
    update_index(isolated / "words.db", [projects_folder()])
    hits = find_hits(isolated / "words.db", "키")
    assert [(hit.uuid, hit.inside) for hit in hits] == [(alone, False), (attached, True)]


@pytest.mark.parametrize("word", ["au", "по", "út", "ու", "და"])
def test_short_words_of_letters_are_meant_whole(word: str) -> None:
    assert not QueryTerm("word", word).matches_inside


def test_a_vowel_that_is_a_mark_belongs_to_the_word(isolated: Path) -> None:
    transcript = TranscriptWriter()
    uuid = transcript.prompt("बैठक की तारीख")
    transcript.prompt("का काम")
    transcript.write(projects_folder())
    update_index(isolated / "words.db", [projects_folder()])
    assert names(find_hits(isolated / "words.db", "की")) == {(SESSION_ID, uuid)}
