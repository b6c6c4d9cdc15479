"""The words of a command: which of them say what it is about, and which only carry on."""

from __future__ import annotations

import re


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


# for the plain rule: English only, as it is written down
STOP_WORDS = words_of(
    """
    about above after again against all also and any are aren't because been before being below
    between both but can can't cannot could couldn't did didn't does doesn't doing don't down during
    each few for from further get got had hadn't has hasn't have haven't having her here hers
    herself him himself his how i'd i'll i'm i've into isn't it's its itself just let let's like
    make may me might more most must mustn't myself need nor not now off once only other ought our
    ours ourselves out over own please put really same shall she should shouldn't some such than
    that that's the their theirs them themselves then there there's these they they're this those
    through too under until very want was wasn't were weren't what what's when where which while who
    whom why will with won't would wouldn't yes yet you you'd you'll you're you've your yours
    yourself yourselves
    """
)

# what means little wherever it stands: English that the rule above keeps, and other languages
FILLER_WORDS = STOP_WORDS | words_of(
    """
    a an as at be by do go he i if in is it me my no of ok on or so to up us we
    also actually wait okay um uh hmm hey yeah yep well alright great good thanks thank perfect
    able already always back bit could else even ever every everything first going gonna help here
    last less little long look looks lot many maybe mean much never new next nice nobody nothing
    one pretty quite really right see seems show since somebody something sometimes still sure take
    tell than thing things think three time today tomorrow try two use used using way week what
    whether work works working yesterday much know says say give different left

    aber alle als also am an auch auf aus bei beim bin bis bitte da dann das dass dem den der des
    die dies diese diesem dieser dieses doch dort du ein eine einem einen einer eines er es etwas
    für geht gibt hat haben hier ich ihm ihn ihr im in ist ja jetzt kann kein keine mal man mehr
    mein meine meinen mich mir mit nach nein nicht noch nur nun ob oder ohne schon sein sie sind so
    über um und uns unser vom von vor wann warum was wenn wer wie wir wird wo zu zum zur
    immer jede jedem jeden kannst könntest lange muss müssen soll sollen sollte
    unsere unseren wieder

    à ai au aussi aux avec ce cela ces cet cette ça dans de des du elle en encore est et être fait
    faire il ils je la le les leur lui ma mais me mes moi mon ne nos notre nous on ont ou où par
    pas plus pour qu que quel quelle qui sa sans se ses si son sont sur ta te tes toi ton tout tu
    un une va vers vos votre vous chaque doit doivent encore peux peut pouvez
    toujours

    al algo como con cuando cual de del donde el ella en ese eso esta este esto está hay haz la las
    le les lo los más me mi mis muy no nos o para pero por porque que qué se ser si sí sin sobre son
    su sus también te tu un una uno y ya cada debe deben puede puedes todavía

    anche che chi come con cosa da dal dalla dei del della delle di e è gli ha i il in io lo ma
    mi ne nel nella non o per più puoi quando questo sono sul sulla tra un una uno
    ao aos as com da das do dos e é ela ele em essa esse esta este eu foi isso isto já mas me mais
    na nas não no nos o os ou deve devem pode para pela pelo por que se sem seu sua também um uma
    aan al als bij dan dat de deze die dit doe een en er het hij hoe ik in is je kan maar met mij
    moet moeten naar niet nog nu of om ook op te uit van voor waar wat we wel wie zijn

    без бы был было быть вот все всё где да для до его ей ему если есть ещё же за из или им их как
    когда которая которое которые который ли мне мы на над нам не нему нет них но об он она они от
    перед по под при про с со так там то тоже только у уже чем что это этого этот я
    ale co czy dla do go gdy i ich jak jest jeszcze już lub ma mi mnie na nad nie nim o od oraz po
    pod przez przy się są tak tam te tego ten też to tu tylko w we wszystkie z za ze że
    """
)

# said in every conversation about code: in common, they mean little
COMMON_WORDS = words_of(
    """
    add added adding app apply approach broken bug bugs build call change changes check clean
    code comment comments commit compile compiles create data delete deploy detail details diff
    docs document error errors example examples explain failed failing fails file files find fix
    fixed format function functions generate handle handles implement install issue line lines
    list make merge missing module move name names open option options output page pages pass
    passes please problem project pull push put read redo refactor remove rename repo report
    request result results revert review run runs script set setting settings setup simplify
    solution start step stop summary support sure test tests tool turn undo update user users
    version write wrote amend cherry-pick rebase squash stash
    four five six seven eight nine ten

    anlegen ändere baue behebe datei dateien erkläre erstelle erzeuge fehler füge hinzu lösche mach
    mache prüfe schreib schreibe skript teste teil zeige
    ajoute corrige crée écris fichier lance mets script supprime
    añade arregla archivo borra cambia crea genera revisa
    aggiungi crea scrivi correggi cria adiciona corrige configura maak schrijf voeg
    """
)

# what many pieces of work have in common: sharing one of these says less than half as much
WIDESPREAD_WORDS = words_of(
    """
    account admin address api backend bar branch browser button cache card class client color colour
    column command component config configuration container content customer customers dashboard
    database date day db default dependency dependencies deployment design docker download email
    endpoint endpoints entry environment event events export fast feature field fields filter flag
    folder form frontend header history html image images import input item items job jobs json key
    label layout library link links loading log login logs logic mail menu message messages method
    mobile mode model models month night nightly notification notifications number order orders
    package password payment performance pipeline plan process product production python query queue
    rate record release response route row screen search server service session size slow staging
    state status string style support system table task template text title token tokens type
    upload url value values variable view warning web website window worker
    access block box calendar chart cluster cost count cpu demo disk font graph group icon index
    load map memory node note permission point policy price role schema section storage stack tab
    tag team theme tree unit video volume year


    aufgabe benutzer bild datenbank dienst feld formular kunde kunden langsam nachricht nutzer
    rechnung schnittstelle seite server spalte suche tabelle
    base bouton client clients commande commandes données lent lente message page requête serveur
    tableau utilisateur utilisateurs
    base botón cliente clientes consulta datos lento mensaje página pedido pedidos servidor tabla
    usuario usuarios banco dados botão página usuário dati pagina utente utenti
    """
)

# words that are also said short, and words that are also written apart, as dictation does
ABBREVIATIONS = {
    short: whole
    for whole, shorts in {
        "administrator": "admin", "application": "app", "argument": "arg", "arguments": "args",
        "asynchronous": "async", "attribute": "attr", "authentication": "auth",
        "button": "btn", "certificate": "cert", "certificates": "certs", "command": "cmd",
        "configuration": "config cfg conf", "database": "db", "dependencies": "deps",
        "dependency": "dep", "development": "dev", "directory": "dir", "documentation": "docs",
        "environment": "env", "experiment": "exp", "image": "img", "images": "imgs",
        "information": "info", "javascript": "js", "kubernetes": "k8s", "message": "msg",
        "messages": "msgs", "parameter": "param", "parameters": "params", "performance": "perf",
        "postgresql": "postgres pg psql", "production": "prod", "python": "py",
        "reference": "ref", "references": "refs", "repository": "repo", "repositories": "repos",
        "specification": "spec", "specifications": "specs", "statistics": "stats",
        "temporary": "temp tmp", "typescript": "ts", "utilities": "utils", "utility": "util",
        "variable": "var", "variables": "vars", "version": "ver",
    }.items()
    for short in shorts.split()
}  # fmt: skip
SPLIT_COMPOUNDS = re.compile(
    r"\b(?:log (?:in|out)|sign (?:in|up|out)|back (?:up|end)|front end|roll back|time (?:out|zone)"
    r"|drop down|pop up|side bar|nav bar|tool (?:bar|tip)|check (?:out|box)|dash board|data base"
    r"|web (?:site|hook|socket)s?|end points?|work flows?|file names?|user names?|e mails?"
    r"|white list|cool down|count down|life cycle|code base|key board|screen shots?|mark down)\b",
    re.IGNORECASE,
)

# the plain rule's words that carry on, in a text whose spaces and signs are even
_SIGNAL_PHRASES = (
    "also", "and then", "and also", "continue", "keep going", "follow(?:ing)?~up", "going back to",
    "while you(?:'?re| are) at it", "in that (?:same )?file", "same thing", "one more thing",
    "actually", "wait", "oh and",
)  # fmt: skip
# what may be said before them, so that they still open a command
_OPENER_PHRASES = (
    "ok(?:ay)?", "um+", "uh+", "so", "hm+", "mhm", "hey", "hi", "hello", "claude", "alright",
    "all right", "right", "great", "good", "cool", "nice", "awesome", "excellent", "lovely",
    "sweet", "perfect", "yes", "yeah", "yep", "sure", "no", "well", "fine", "thanks?(?: you)?",
    "thx", "ty", "please", "pls", "btw", "by the way", "sorry", "now", "then", "and", "but", "oh",
    "ah", "just", "(?:can|could|would|will) you", "let'?s", "let us",
)  # fmt: skip


def _any_of(phrases: tuple[str, ...]) -> str:
    """A space in a phrase may be a hyphen or have a comma; “~” may also be nothing."""
    apart = (each.replace(" ", "[ ,-]+").replace("~", "[ ,-]*") for each in phrases)
    return r"\b(?:" + "|".join(apart) + r")\b"


SIGNAL_PATTERN = re.compile(_any_of(_SIGNAL_PHRASES), re.IGNORECASE)
_OPENERS = re.compile(rf"\W*(?:{_any_of(_OPENER_PHRASES)}\W*){{0,8}}", re.IGNORECASE)
# signs that look alike, as programs and phones write them
_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2018\u2019\u201b\u02bc\u00b4\uff07", "'"),
        # they stand between letters and are not seen
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff"),
    }
)
_SPACES = re.compile(r"\s+")
_WORD_START = re.compile(r"\b\w")

# a word without the punctuation around it
_WORD_CORE = re.compile(r"[^\W_](?:.*[^\W_])?")


def keywords(text: str) -> frozenset[str]:
    """Lower-cased words of more than two letters, without stop words."""
    pieces = text.lower().replace("’", "'").split()
    words = (found[0] for piece in pieces if (found := _WORD_CORE.search(piece)) is not None)
    return frozenset(word for word in words if len(word) > 2 and word not in STOP_WORDS)


def normalize(text: str) -> str:
    """The text with one kind of space, hyphen and apostrophe each."""
    return _SPACES.sub(" ", text.translate(_LOOKALIKES)).strip()


def find_signal(text: str) -> str | None:
    """The first words that carry on, as they were said."""
    found = SIGNAL_PATTERN.search(normalize(text))
    return found[0] if found else None


def find_opening_signal(text: str) -> str | None:
    """Those with which it opens, but for a greeting, thanks and the like."""
    text = normalize(text)
    before = _OPENERS.match(text)
    # the longest row of such words may have taken one that is a part of the signal: “and then”
    for at in _word_starts(text, before.end() if before else 0):
        if (found := SIGNAL_PATTERN.match(text, at)) is not None:
            return found[0]
    return None


def _word_starts(text: str, end: int) -> list[int]:
    return [found.start() for found in _WORD_START.finditer(text, 0, end + 1)] + [end]


# fewer letters than this tell nothing; signs of Chinese and Japanese say more each
MIN_LETTERS = 4
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def is_very_short(text: str) -> bool:
    letters = sum(char.isalnum() for char in text)
    return letters + 2 * len(_CJK.findall(text)) < MIN_LETTERS
