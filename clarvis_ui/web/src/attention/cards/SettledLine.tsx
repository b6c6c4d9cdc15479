import type { AttentionKind } from '../../api/attention';
import { revealInvisible } from '../../lib/sanitize';
import { Icon } from '../../ui/Icon';
import type { SettledAttention } from '../inbox';
import { subjectOf } from './presentation';

/** What became of a question, and through whom. */
export function SettledLine({
  settled,
  workdir,
}: {
  settled: SettledAttention;
  workdir: string | null;
}) {
  const what = subjectOf(settled.attention, workdir);
  return (
    <p class="settled" data-decision={settled.decision}>
      <Icon name={settled.decision === 'allow' ? 'check' : 'clear'} size={14} />
      <span class="settled-words">
        <b>{settledWords(settled)}</b> <bdi>{revealInvisible(what)}</bdi>
      </span>
    </p>
  );
}

const ALLOWED: Readonly<Record<AttentionKind, string>> = {
  permission: 'Allowed',
  question: 'Answered',
  plan: 'Approved',
  ceiling: 'Allowed to go on',
};
const DENIED: Readonly<Partial<Record<AttentionKind, string>>> = {
  plan: 'Sent back',
  ceiling: 'Ended',
};

export function settledWords({ attention, decision, by, mine }: SettledAttention): string {
  const isInTerminal = by === 'terminal';
  const who = mine ? 'by you' : isInTerminal ? 'in the terminal' : by !== null ? `by ${by}` : null;
  const withName = (words: string): string => (who === null ? `${words}:` : `${words} ${who}:`);
  switch (decision) {
    case 'allow':
      return withName(ALLOWED[attention.kind]);
    case 'deny':
      return withName(DENIED[attention.kind] ?? 'Denied');
    case 'withdrawn':
      // the terminal does not say what was answered there, only that it no longer asks
      return isInTerminal ? withName('Answered') : 'No longer asked:';
    case 'gone':
      // answered while we were offline, or lost with the keeper that ended
      return 'No longer asked:';
    default:
      return decision satisfies never;
  }
}
