import { useEffect, useMemo, useState } from 'preact/hooks';
import type { BranchPage, Tip } from '../api/branches';
import type { Message } from '../api/messages';
import { messageHref, sessionHref } from '../app/routes';
import type { AppStore } from '../app/store';
import { counted } from '../lib/format';
import { BranchMessages } from './BranchMessages';

export interface BranchColumnProps {
  app: AppStore;
  one: Tip;
  other: Tip;
  title: string;
  kind: string;
  first: BranchPage;
  /** The label of the button that carries it over; null where there is nothing to carry over. */
  bringing: string | null;
  onBring(): void;
}

/** One of two branches, from where they part. */
export function BranchColumn({
  app,
  one,
  other,
  title,
  kind,
  first,
  bringing,
  onBring,
}: BranchColumnProps) {
  /** The pages after the first one. */
  const [rest, setRest] = useState<readonly Message[]>([]);
  const [cursor, setLeft] = useState(first.after);
  const [problem, setProblem] = useState('');
  const messages = useMemo(() => [...first.messages, ...rest], [first, rest]);
  const after = rest.length === 0 ? first.after : cursor;

  async function more(from: string | null): Promise<void> {
    const outcome = await app.api.branch(one, other, from);
    setProblem(outcome.ok ? '' : outcome.failure.sentence);
    if (!outcome.ok) return;
    setRest([...rest, ...outcome.value.messages]);
    setLeft(outcome.value.after);
  }

  // when all is read, new messages are loaded as they come
  const grown = rest.length > 0 && cursor === null && first.total > messages.length;
  const last = messages.at(-1)?.uuid ?? null;
  useEffect(() => {
    if (grown) void more(last);
  }, [grown, first.total]);

  const href = one.tip === null ? sessionHref(one.session) : messageHref(one.session, one.tip);
  return (
    <section class="side" aria-label={title}>
      <header class="side-head">
        <p class="limb-kind">
          <span>{kind}</span>
          <span>{counted(first.total, 'message')} since</span>
        </p>
        <h2 dir="auto">
          <a href={href}>{title}</a>
        </h2>
        <button type="button" disabled={bringing === null} onClick={onBring}>
          {bringing ?? 'Nothing to bring over'}
        </button>
      </header>
      {messages.length === 0 ? (
        <p class="side-nothing">Nothing was said here since.</p>
      ) : (
        <BranchMessages app={app} sessionId={one.session} messages={messages} />
      )}
      {after !== null && (
        <button type="button" class="quiet" onClick={() => void more(after)}>
          Show more of {counted(first.total, 'message')}
        </button>
      )}
      <p class="branches-problem" role="alert">
        {problem}
      </p>
    </section>
  );
}
