/** What one branch decided and changed that another lacks, written as a prompt for the other. */

import type { BranchWork, FileChange } from '../api/branches';
import { compare, withGaps } from '../content/diff';
import { relativeTo } from '../lib/paths';
import { revealInvisible } from '../lib/sanitize';
import { changesIn, differenceOf, type FilePair, type PairedChange, pairedFiles } from './tree';

const MAX_FILES = 12;
const MAX_DECISION = 1_200;
/** Characters of differences that go with it; the files themselves can be read. */
const MAX_DIFF = 12_000;

export interface CarryOver {
  /** The name of the branch that it comes from. */
  title: string;
  from: BranchWork;
  into: BranchWork;
  workdir: string | null;
}

export function carryOverPrompt({ title, from, into, workdir }: CarryOver): string {
  const decided = new Set(into.decisions.map((each) => `${each.about}\n${each.decision}`));
  const decisions = from.decisions.filter(
    (each) => !decided.has(`${each.about}\n${each.decision}`),
  );
  const files = pairedFiles(from.files, into.files).filter(
    ({ where }) => where === 'both' || where === 'one',
  );
  const parts = [
    `In another branch of this conversation, “${line(title)}”, we went another way. ` +
      'Bring what was decided there over into this one.',
    list('What I asked there', from.prompts.slice(-MAX_FILES).map(line)),
    list(
      'What was decided there',
      decisions
        .slice(-MAX_FILES)
        .map(({ about, decision, reason }) =>
          line(`${about}: ${decision}${reason ? ` (${reason})` : ''}`),
        ),
    ),
    from.lastReply === null ? '' : `How it ended there:\n${quoted(from.lastReply)}`,
    fileList(files, from.moreFiles, workdir),
    files.length > 0
      ? 'Make these changes fit the files as they are in this branch. Where they contradict what ' +
        'was done here, tell me before you overwrite it.'
      : 'Go on here as if it had been decided here. Where it contradicts what was done here, ' +
        'tell me first.',
  ];
  // it is sent as the person's own message: nothing in it may be invisible
  return revealInvisible(parts.filter(Boolean).join('\n\n'));
}

function fileList(files: readonly FilePair[], more: number, workdir: string | null): string {
  if (files.length === 0) return '';
  let room = MAX_DIFF;
  const listed = files.slice(0, MAX_FILES).map((pair) => {
    const name = `- \`${relativeTo(pair.path, workdir)}\`: ${fateWords(pair)}`;
    const lines = differencesOf(pair).map(patchOf).join('\n');
    if (lines === '' || lines.length > room) return name;
    room -= lines.length;
    return `${name}\n${fenced(lines)}`;
  });
  const omitted = files.length - listed.length + more;
  if (omitted > 0) listed.push(`- and ${omitted} more`);
  return `What changed there and is not so here:\n${listed.join('\n')}`;
}

function fateWords({ one, where }: FilePair): string {
  const fate: FileChange['fate'] = one?.fate ?? 'changed';
  if (fate === 'deleted') return 'deleted there';
  if (where === 'both') return 'changed in both; from how it is here to how it is there';
  return fate === 'created' ? 'new there' : 'changed only there';
}

/** The difference between the two branches; without both texts, the edits. */
function differencesOf(pair: FilePair): PairedChange[] {
  if (pair.one === null || pair.one.fate === 'deleted') return [];
  const difference = differenceOf(pair);
  return difference ? [difference] : changesIn(pair.one);
}

const SIGNS = { same: ' ', added: '+', removed: '-' } as const;

export function patchOf({ before, after }: PairedChange): string {
  return withGaps(compare(before, after).lines)
    .map((each) =>
      each.kind === 'gap' ? '…' : SIGNS[each.kind] + each.parts.map((part) => part.text).join(''),
    )
    .join('\n');
}

/** A fence that nothing inside can close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}diff\n${text}\n${fence}`;
}

function list(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}:\n${lines.map((each) => `- ${each}`).join('\n')}`;
}

function line(text: string): string {
  return short(text.replace(/\s+/g, ' ').trim());
}

function quoted(text: string): string {
  return short(text.trim())
    .split('\n')
    .map((each) => `> ${each}`.trimEnd())
    .join('\n');
}

function short(text: string): string {
  return text.length <= MAX_DECISION ? text : `${text.slice(0, MAX_DECISION - 1)}…`;
}

/** Into a composer: after what is typed there already, and not twice. */
export function withCarryOver(draft: string, prompt: string): string {
  if (draft.includes(prompt)) return draft;
  return draft.trim() === '' ? prompt : `${draft.trimEnd()}\n\n${prompt}`;
}
