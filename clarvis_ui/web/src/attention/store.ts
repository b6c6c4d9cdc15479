import { type ReadonlySignal, signal } from '@preact/signals';
import type { Answer } from '../api/attention';
import type { Api } from '../api/client';
import type { KeeperEvent } from '../api/events';
import { CLARVIS_UNREACHABLE, NOT_LOGGED_IN } from '../api/result';
import type { Halves } from './answerDrafts';
import { EMPTY_INBOX, type Inbox, type InboxEvent, reduceInbox } from './inbox';

/** Open questions of all sessions, and the answers to them. */
export interface Questions {
  readonly inbox: ReadonlySignal<Inbox>;
  readonly halves: Halves;
  hear(events: readonly KeeperEvent[]): void;
  /** Asks for all that is open. */
  reload(): void;
  answer(attentionId: string, answer: Answer): Promise<void>;
  forget(): void;
}

// somebody was faster, or it was taken back: the socket says who
const TOO_LATE = new Set(['attention_gone', 'attention_not_found']);

export function createQuestions(
  api: Api,
  halves: Halves,
  by: string,
  onLoggedOut: () => void,
  /** Until the keeper has what was sent to this session. */
  sent: (sessionId: string) => Promise<void> = async () => {},
): Questions {
  const inbox = signal<Inbox>(EMPTY_INBOX);
  let raisedSince = new Set<string>();
  /** Answers of which nobody said what became of them. */
  const doubtful = new Set<string>();
  let request: AbortController | null = null;

  function dispatch(event: InboxEvent): void {
    inbox.value = reduceInbox(inbox.value, event);
    if (event.type === 'attention/listed') halves.keepOnly(inbox.value.open.map(({ id }) => id));
    else if (event.type === 'attention/settled') {
      if (event.decision === 'withdrawn') halves.leave(event.attentionId);
      else halves.forget(event.attentionId);
    }
  }

  async function reload(): Promise<void> {
    request?.abort();
    const mine = new AbortController();
    request = mine;
    raisedSince = new Set();
    const outcome = await api.attention(mine.signal);
    if (request !== mine) return;
    request = null;
    if (outcome.ok) dispatch({ type: 'attention/listed', attention: outcome.value, raisedSince });
    else if (outcome.failure.code === NOT_LOGGED_IN) onLoggedOut();
  }

  return {
    inbox,
    halves,
    hear(events) {
      for (const event of events) {
        if (event.type === 'attention/raised') {
          raisedSince.add(event.attention.id);
          dispatch(event);
        } else if (event.type === 'attention/settled') {
          const ours = doubtful.delete(event.attentionId) && event.by === by;
          if (ours) dispatch({ type: 'answer/begun', attentionId: event.attentionId });
          dispatch(event);
        }
      }
    },
    reload: () => void reload(),
    async answer(attentionId, answer) {
      if (inbox.value.answering.has(attentionId)) return;
      dispatch({ type: 'answer/begun', attentionId });
      const asked = inbox.value.open.find(({ id }) => id === attentionId);
      // what was sent before is held with the rest
      if (answer.hold && asked) await sent(asked.sessionId);
      const outcome = await api.resolve(attentionId, answer, by);
      if (outcome.ok) {
        // the socket usually said so already
        dispatch({
          type: 'attention/settled',
          position: null,
          sessionId: '',
          attentionId,
          decision: answer.decision,
          by,
        });
        return;
      }
      dispatch({ type: 'answer/failed', attentionId, problem: outcome.failure.sentence });
      // it may have arrived all the same
      if (outcome.failure.code === CLARVIS_UNREACHABLE) doubtful.add(attentionId);
      if (TOO_LATE.has(outcome.failure.code)) void reload();
      else if (outcome.failure.code === NOT_LOGGED_IN) onLoggedOut();
    },
    forget() {
      request?.abort();
      request = null;
      inbox.value = EMPTY_INBOX;
    },
  };
}

/** How this browser is called when the others are told who answered. */
export function nameOf(agent: string): string {
  const device = [
    [/iPhone|iPod/, 'iPhone'],
    [/iPad/, 'iPad'],
    [/Android/, 'Android'],
    [/Windows/, 'Windows'],
    [/Macintosh|Mac OS/, 'Mac'],
    [/CrOS/, 'Chromebook'],
    [/Linux/, 'Linux'],
  ] as const;
  const found = device.find(([pattern]) => pattern.test(agent));
  return found ? `Clarvis on ${found[1]}` : 'Clarvis';
}
