/**
 * Words that mean a button of the page: a recap, none, an alternative, what was decided. Only the
 * whole text may be such words; in a task they are part of it.
 */
export type SpokenAction =
  | { kind: 'recap'; level: 'quick' | 'detailed' }
  | { kind: 'skip' }
  | { kind: 'alternative' }
  | { kind: 'decided'; about: string; words: string };

/** A spoken action from the command bar, for a session. */
export interface SpokenRequest {
  sessionId: string;
  action: SpokenAction;
}

// what is longer is a task
const MAX_CHARACTERS = 160;

// said before and after it without meaning more
const BEFORE =
  /^(?:(?:ok(?:ay)?|hey|hi|hello|claude|so|now|well|please|just|wait|hm+|and|first|then|actually|alright|thanks)[\s,.!:–—-]+)+/i;
const POLITE =
  /^(?:(?:can|could|would|will) you (?:please |just )?|i(?:'d| would) (?:like|love) (?:you to |to (?:have|get|see|read) )?|i (?:want|need) (?:you to )?|let me (?:have|get|see) |(?:can|could|may) i (?:please )?(?:have|get|see) |please )/i;
const AFTER = /(?:[\s,]+(?:please|thanks|thank you|now|again|first|for now|then|claude))+$/i;

const RECAP = '(?:recap|summary|summar(?:ization|isation))';
// these are things of a project, too: only who asks to be given one means the session
const REPORT = '(?:overview|rundown|run-down|status report|status update|update)';
const QUICK = '(?:quick|short|brief|fast|little|one-line|tl;?dr)';
const DETAILED = '(?:detailed|full|long|longer|complete|thorough|in-depth|comprehensive)';
const OF =
  "(?: (?:of|on|about) (?:(?:this|the|our) (?:session|conversation|chat|work|project|state)|it|this|everything|where we (?:are|were|stand|left off)|what (?:we|you)(?:'ve| have)? (?:did|done)(?: so far)?|things))?(?: so far)?";
const ME = '(?:give|show|tell|write|get|send)(?: me| us)|gimme';
const GIVE = `(?:${ME}|have|get|see|make|do)? ?(?:a|an|the|another|just a)? ?`;

const QUICKLY = whole(
  `${GIVE}${QUICK},? ?${RECAP}${OF}`,
  `(?:${ME}) an? ${QUICK},? ?${REPORT}${OF}`,
  `(?:quickly|briefly) (?:recap|summari[sz]e)${summed()}`,
  `(?:recap|summari[sz]e)${summed()} (?:quickly|briefly|in short|in brief|in a (?:sentence|nutshell))`,
  'tl;?dr',
  'fasse?(?: es| das| alles)? kurz zusammen',
  '(?:gib mir |mach )?eine? kurze zusammenfassung',
  '(?:fais|donne)(?:-moi)? un (?:bref|court|petit) r[ée]sum[ée]',
  '(?:dame|hazme) un (?:breve resumen|resumen (?:breve|r[áa]pido|corto))',
);
const AT_LENGTH = whole(
  `${GIVE}${DETAILED},? ?${RECAP}${OF}`,
  `(?:${ME}) an? ${DETAILED},? ?${REPORT}${OF}`,
  `${GIVE}${RECAP} in detail${OF}`,
  `(?:recap|summari[sz]e)${summed()} (?:in detail|in full|thoroughly)`,
  '(?:gib mir |mach )?eine? (?:ausf[üu]hrliche|lange) zusammenfassung',
);
const PLAINLY = whole(
  `(?:${ME}|have|get|see) (?:an?|the) ${RECAP}${OF}`,
  `(?:${ME}) an? ${REPORT} (?:of|on|about) where we (?:are|were|stand|left off)`,
  `(?:a )?recap${OF}`,
  `(?:recap|summari[sz]e) (?:where we (?:are|were|stand|left off)|(?:this|the|our) (?:session|conversation|chat))`,
  '(?:remind me )?where (?:were|are) we|remind me where we (?:were|are|left off|stopped)',
  'where did we (?:leave|stop)(?: off)?',
  'what were we (?:doing|working on)(?: here)?',
  'catch me up|bring me up to (?:speed|date)|fill me in',
  'wo waren wir|wo stehen wir|o[ùu] en [ée]tions-nous|d[óo]nde (?:est[áa]bamos|nos quedamos)',
);
const SKIPPED = whole(
  `(?:(?:let's|you can|we can) )?(?:skip|hide|close|drop|forget|dismiss|never ?mind)(?: over)? (?:the|this|that|your)? ?${RECAP}`,
  `(?:(?:there(?:'s| is) )?no|no need (?:for|of)(?: a| the)?|without(?: a| the)?|(?:i |we )?(?:don't|do not) (?:need|want)(?: a| any| the)?) ${RECAP}(?: needed| necessary)?`,
  "(?:let's |let me |just )?(?:dive|jump|get) (?:right |straight )?in(?:to it)?",
  '(?:[üu]berspringe?|weg mit der|keine) (?:die )?zusammenfassung',
  '(?:sans|passe le) r[ée]sum[ée]|(?:sin|s[áa]ltate el) resumen',
);
const WE =
  "(?:let's |let us |(?:we|i) (?:could|should|can|want to) |(?:can|could|shall) we |i(?:'d| would) like to )?";
const OTHERWISE = whole(
  `${WE}(?:explore|try|look at|consider|take|go for|think about|pursue)(?: out)? (?:(?:an?other|an|some|a different|a new|a second) )?(?:alternatives?|(?:alternative |different )?approach(?:es)?)(?: instead| here)?`,
  // a path or option may be one of the project's; another one is meant where it is to be explored
  `${WE}(?:explore|pursue) (?:an?other|a different|a new|an alternative) (?:direction|way|path|route|option|idea|solution)(?: instead| here)?`,
  `(?:let's |let us )(?:try|look at|consider|take|go for|go in) (?:an?other|a different|a new) (?:direction|way|option|idea|solution)(?: instead| here)?`,
  "(?:let's |let us )?(?:explore|consider) alternatives?",
  "(?:let's |let us )?(?:branch off|fork (?:here|from here|this(?: session| conversation| chat)?))",
  '(?:lass uns |probieren wir )?(?:eine alternative|einen anderen weg)(?: ausprobieren| probieren| suchen)?',
  '(?:explorons|essayons) une (?:alternative|autre (?:piste|approche))',
  '(?:exploremos|probemos) (?:una alternativa|otra (?:v[íi]a|opci[óo]n))',
);
const DECIDED = new RegExp(
  `^(?:${[
    '(?:so )?what (?:did|had|have) (?:we|you|i) (?:decide|decided|agree|agreed|settle|settled)(?: (?:on|upon))?(?: (?:about|for|on|re|regarding|concerning|with regard to|when it comes to))? (.+)',
    'what (?:was|has been|had been) (?:decided|agreed|settled)(?: (?:on|upon))? (?:about|for|on|re|regarding|concerning) (.+)',
    '(?:did|have) we (?:already )?(?:decided?|agreed?|settled?)(?: (?:on|upon))? (?:anything|something) (?:about|for|on|re|regarding|concerning) (.+)',
    'what (?:did|have) we conclud(?:e|ed) (?:about|for|on|re|regarding|concerning) (.+)',
    "what(?:'s| was| were| is| are) (?:the|our) decisions? (?:about|on|for|regarding|concerning|of) (.+)",
    '(?:which|what) decisions? (?:did we (?:make|take)|have we (?:made|taken)|(?:was|were) (?:made|taken)) (?:about|on|for|regarding|concerning) (.+)',
    '(?:show|tell|remind) me (?:of )?(?:what we decided|our decisions?|the decisions?) (?:about|on|for|regarding) (.+)',
    'remind me what (?:we|i) decided (?:about|on|for|regarding) (.+)',
    'why did we (?:decide|go) (?:on|for|with) (.+)',
    'was (?:haben|hatten) wir (?:über|zu|zum|zur|wegen|bei) (.+?) (?:entschieden|beschlossen|ausgemacht)',
    "qu'(?:avons-nous|est-ce qu'on a|a-t-on) d[ée]cid[ée] (?:pour|sur|[àa] propos de|concernant) (.+)",
    'qu[ée] (?:decidimos|acordamos) (?:sobre|de|acerca de|para) (.+)',
  ].join('|')})$`,
  'i',
);

/** The spoken action of these words; null if they are a message. */
export function spokenActionOf(text: string): SpokenAction | null {
  const typed = text.trim();
  if (typed.length > MAX_CHARACTERS || typed.includes('\n') || typed.startsWith('/')) return null;
  const words = core(unquoted(typed.replaceAll('’', "'")));
  const about = DECIDED.exec(words)
    ?.slice(1)
    .find((one) => one !== undefined);
  if (about !== undefined) return aboutOf(about, typed);
  // a question of another kind, or two sentences, is for Claude
  const request = core(words.replace(POLITE, ''));
  for (const each of [words, request]) {
    if (QUICKLY.test(each)) return { kind: 'recap', level: 'quick' };
    if (AT_LENGTH.test(each)) return { kind: 'recap', level: 'detailed' };
    if (PLAINLY.test(each)) return { kind: 'recap', level: 'quick' };
    if (SKIPPED.test(each)) return { kind: 'skip' };
    if (OTHERWISE.test(each)) return { kind: 'alternative' };
  }
  return null;
}

/** Without marks around all of it, and "lets" as it is meant. */
function unquoted(words: string): string {
  return words
    .replace(/^["“„«](.*)["”“»]$/, '$1')
    .replace(/^(\W*(?:\w+[\s,]+)?)lets /i, "$1let's ");
}

function core(words: string): string {
  return words
    .replace(BEFORE, '')
    .replace(/[\s.!?…]+$/, '')
    .replace(AFTER, '')
    .replace(/[\s,.!?…]+$/, '')
    .replaceAll(/\s+/g, ' ');
}

function aboutOf(words: string, typed: string): SpokenAction | null {
  const about = words.replaceAll(/^["'“”„«]+|["'“”„»]+$/g, '').trim();
  // "… about the database and then migrate it" is more than a question
  if (
    about === '' ||
    /[.;:!?]\s|\b(?:and|then|und|et|y) (?:then|now|please|implement|write|fix|add|change|update|build|make|do)\b/i.test(
      about,
    )
  ) {
    return null;
  }
  return { kind: 'decided', about, words: typed };
}

function summed(): string {
  return "(?: (?:it|this|that|everything|things|the (?:session|conversation|chat|work)|this (?:session|conversation|chat)|where we (?:are|were|stand)|what we(?:'ve| have)? (?:did|done)))?";
}

function whole(...patterns: string[]): RegExp {
  return new RegExp(`^(?:${patterns.join('|')})$`, 'i');
}
