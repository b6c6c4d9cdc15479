"""Words by which one puts something off, or speaks of a topic without saying anything of it."""

from __future__ import annotations

import re

_TALK = (
    r"(?:talk|speak|discuss|mention|cover|go (?:in)?to|get (?:in)?to|touch|bring up|think|worry"
    r"|address|bother|ask|consider|deal|reden|sprechen|besprechen|parl\w+|habl\w+|discut\w+)"
)
DEFERS = re.compile(
    rf"""\b(?:
      (?!no\ questions\ asked)
      (?:do\ not|don['’]?t|not|never|no|need\ not|without)\ (?:\w+\ ){{0,4}}?{_TALK}\w*
    | skip\w*\b | (?:postpon|defer)\w*\b(?!\ (?:payment|tax|rate|delay)) | parked\b
    | (?:let['’]?s|we|i|to)\ (?:\w+\ )?park\b | park\ (?:it|this|that)\b | forget(?:\ about)?\b
    | ignore\b | leav\w+\ .{{0,60}}?\b(?:out|aside|for\ later|for\ now|open)\b
    | (?:i['’]?d|we['’]?d|let['’]?s|please|i)\ leave\ (?:\w+\ ){{1,5}}?to\b
    | \A\W*(?:(?:you|we|i)\ (?:should|must|need\ to|can|could|have\ to|['’]d)\ |please\ |better\ )?
      ask\ (?!for\b)\w+
    | needs?\ (?:\w+\ )?(?:thought|thinking|discussion|clarification|a\ decision)\b
    | \A\W*first\ (?:\w+\ ){{0,3}}?\w+,\ (?:and\ )?(?:then|after|only)\b
    | (?:keep|save)\ .{{0,60}}?\bfor\ later\b
    | (?:set|put|push)\ .{{0,60}}?\b(?:aside|off|back)\b | hold\ off
    | (?:come|get|go)\ back\ (?:to|on|with) | return\ to | revisit\w*
    | not\ (?:\w+\ ){{0,2}}?(?:now|yet|ready|sure|certain|decided|clear|defined|settled|known)\b
    | (?:has|have|is|are|was|were)(?:n['’]t|\ not)\ (?:\w+\ ){{0,3}}?(?:yet|decided|discussed
      |defined|settled|clear|sure|thought|talked)\b | \w+n['’]t\ (?:\w+\ ){{0,6}}?yet\b
    | not\ (?:\w+\ ){{0,6}}?yet\b | no\ \w+(?:\ \w+)?\ (?:yet|for\ now)\b
    | (?:maybe|perhaps|possibly)\ .{{0,30}}?\b(?:later|phase|some\ ?day|version|release|v2)\b
    | (?:figure|work)\ .{{0,60}}?\b(?:later|down\ the\ (?:road|line))\b
    | undecided | unclear | unknown | unresolved | tbd | to\ be\ (?:decided|determined|defined
      |discussed|clarified|confirmed|done\W*\Z|planned|written)
    | (?:still|remains?|is\ an?)\ open\b | open\ question
    | (?:no|don['’]t\ have\ an?)\ (?:idea|clue) | \A\W*move\ on\W*\Z
    | (?:don['’]?t|do\ not|dunno)\ (?:really\ )?know | dunno
    | (?:let\ me|i['’]?ll|i\ will|we['’]?ll|we\ will|i\ need\ to|have\ to|must)\ (?:\w+\ )?
      (?:think|check|ask|find\ out|figure\ (?:\w+\ )?out|look\ (?:in|up)|get\ back|see)\b
    | still\ (?:have|need)\ to\ (?:\w+\ )?(?:decide|clarify|define|find|figure|work\ out)\b
    | next\ (?:question|one) | another\ (?:time|day) | some\ other\ time | come\w*\ later
    | before\ we\ (?:get|come|go|talk|turn) | pass\Z
    | (?:can|could|may|must|should|has\ to|have\ to|will)\ wait\b(?!\ (?:for|up\ to|at\ most|\d))
    | for\ (?:a\ later|another|the\ next|some\ other)\ (?:time|day|session|meeting|round|call)\b
    | on\ (?:hold|ice|the\ table\ (?:today|now|yet|right)) | back\ ?burner | shelv\w+
    | (?:in|at)\ (?:due\ (?:course|time)|the\ (?:far\ |distant\ )?future|some\ point)
    | down\ the\ (?:road|line) | when\ the\ time\ comes | cross\ that\ bridge | premature
    | too\ early | early\ days | someday | (?:no|not\ any)\ (?:rush|hurry) | tba | tbc
    | not\ (?:urgent|today|final) | low(?:er|est)?\ priority | under\ discussion
    | (?:for|at|until|to)\ the\ (?:very\ )?(?:(?:end|last)\W*\Z|bottom\b)
    | un(?:answered|determined) | sorted?\ out\ with | get\ ahead\ of | \A\W*park\b
    | (?:belongs?|moves?)\ (?:to|in)\ (?:an?\ )?(?:different|other)
    | eventually\W*\Z | some\ (?:other\ )?(?:day|time)\W*\Z | steer\ clear | stay\ away\ from
    | out\ of\ scope\ (?:for|in)\ (?:this|now|today|the\ moment) | up\ in\ the\ air
    | nothing\ .{{0,40}}\b(?:so\ far|until\ now)
    | something\ for\ .{{0,40}}?\ to\ (?:decide|define|clarify|figure|say)\b
    | (?:will|['’]ll|should|has\ to|have\ to|must)\ (?:tell|inform)\ (?:us|me|you)\ (?:about|on
      |later|soon|next|tomorrow)\b
    | comes?\ (?:only\ )?(?:later|last|after\ (?:the\ |our\ )?(?:mvp|launch|release|beta|pilot
      |demo|v\d))\b
    | (?:put|add|note|keep|have)\w*\ .{{0,60}}?\b(?:on|to)\ (?:the|our|my|your)\ (?:checklist
      |agenda|backlog|to-?dos?|list)\W*\Z
    | noch\ nicht | überspring\w* | verschieb\w* | keine\ ahnung | weiß\ (?:ich\ )?(?:noch\ )?nicht
    | zurückstell\w* | pas\ encore | plus\ tard | je\ ne\ sais\ pas | on\ verra
    | todav[íi]a\ no | a[úu]n\ no | más\ tarde | no\ lo\ sé | no\ sé | ainda\ não | mais\ tarde
    | não\ sei | non\ ancora | più\ tardi | non\ (?:lo\ )?so | nog\ niet | weet\ (?:ik\ )?niet
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# these put off where they stand alone, at an end, or in signs that have no spaces
LATER = re.compile(
    r"(?<!days )(?<!hours )(?<!minutes )(?<!weeks )(?<!months )(?<!years )(?<!or )"
    r"\b(?:later(?: on)?|afterwards|später|luego|después|tomorrow|morgen)"
    r"[\s,.!]*(?:please|bitte)?[.!]*\Z"
    r"|^\W*(?:later|später|afterwards)\b(?!\s+versions?)"
    r"|まだ|後で|あとで|未定|以后再|稍后|暂时不|先不|还没|还不|나중에|아직",
    re.IGNORECASE,
)
# it is to be talked about
PLANS = re.compile(
    r"""^\W*
    (?:(?:ok|okay|so|now|then|and|please|well|great|good|next|first|also|yes|no|but)[,\s]+)*
    (?:(?:the|our|this|my|your)\ (?:\w+\ )?(?:checklist|list|agenda|template|brief)\ (?:also\ )?
        (?:says|wants|asks|requires|demands|tells)\ (?:\w+\ )?(?:that\ |us\ to\ )?)?
    (?:(?:let['’]?s|let\ us|shall\ we|can\ we|could\ we|(?:we|i|you)\ (?:still\ |also\ |now\ )?
        (?:should|must|need\ to|have\ to|want\ to|will|can|could)
        |(?:i|we)['’]?(?:d|ll|\ would)\ (?:like|want)\ to
        |i['’]?ll|we['’]?ll)\ (?:\w+\ ){0,2}?
        (?:talk|speak|discuss|cover|move\ on|go\ (?:on|over|through|into)|continue|look\ at|start
        |begin|turn|address|clarify|define|work\ (?:on|through)|figure\ out|find\ out|decide
        |proceed|settle)\b
    |(?:continue|start|go\ on|move\ on|proceed|begin|carry\ on)\ (?:with|to|on|by)\b
    |(?:ask|question|interview|remind|quiz)\ me\b
    |remember\ to\b
    |(?:here\ (?:is|are)|these\ are)\ (?:the|my|our|all|some)\ (?:\w+\ )?
        (?:questions|topics|checklist)
    |(?:lass\ uns|wir\ (?:sollten|müssen|reden|sprechen))\b.*\b(?:reden|sprechen|klären|besprechen)
    |weiter\ mit\b|(?:parlons|discutons|continuons)\b|(?:hablemos|sigamos|continuemos)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
# something does not work as it should
FAULT = re.compile(
    r"\b(?:typo|bug|mistake|glitch|regression)s? (?:in|with|on|of)\b"
    r"|\bha(?:s|ve) (?:an?|some|two|many) (?:typo|bug|mistake|glitch|regression)"
    r"|\b(?:is|are|was|were|looks?|seems?) (?:\w+ )?(?:misspell\w+|misaligned|cut off|off by)\b"
    r"|\b(?:does|do|did|is|are)(?:n['’]t| not) (?:work|load)(?:ing)?\b"
    r"|\b(?:does|do|did)(?:n['’]t| not) (?:compile|build|render)\b",
    re.IGNORECASE,
)
# what comes behind is what one speaks of
REGARDING = re.compile(
    r"\b(?:about|regarding|concerning|(?:answers?|opinions?|word|news|feedback|details|info)"
    r" (?:on|to|for))\b",
    re.IGNORECASE,
)
# one speaks of it, then or some other time
SPEAKS_OF = re.compile(
    r"(?<!\bas )\b(?:discuss(?:ed|ing|ion)?|talk(?:ed|ing)? (?:about|through|over)|(?:speak(?:ing)?"
    r"|spoken?) (?:about|of)|(?:a|the|another) topic"
    r"|thoughts? (?:about|on|of)|think(?:ing)? (?:about|of)|to plan|a note|an? reminder"
    r"|an? ideas? (?:for|about|on)|(?<!no )questions?|(?:on|from|in) my (?:mind|head)"
    r"|you (?:still )?keep"
    r"|(?:nobody|no one|none of us) (?:\w+ )?(?:knows?|asked|wants)|not (?:any time )?soon"
    r"|(?:is|are) (?:\w+ )?(?:important|essential|crucial|critical|vital|a priority)"
    r"|this (?:session|conversation|meeting|chat)"
    r"|(?:other|another|next|later|separate) (?:session|conversation|meeting|chat|time|phase"
    r"|sprint|week|month|quarter|year|release|version|milestone|step)"
    r"|phase (?:two|three|2|3|ii|iii))\b",
    re.IGNORECASE,
)
# by these one speaks of a topic, or of when and how much it matters, and says nothing of it
ABOUT_TALK = """
    wait session conversation meeting chat eventually checklist agenda backlog ask asked mention
    mentioned bring brought tell told said say already agreed agree far nothing something anything
    remains stay away later moment today remember remind important essential crucial critical
    matters priority care cover covered interested excited hope list keep over turn back
"""
