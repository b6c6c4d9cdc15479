import { type ReadonlySignal, signal } from '@preact/signals';
import type { Answer } from '../api/attention';
import type { Api } from '../api/client';
import type { EventBus } from '../api/eventBus';
import { createLatestRequest } from '../api/request';
import { CLARVIS_UNREACHABLE } from '../api/result';
import type { AnswerDrafts } from './answerDrafts';
import { EMPTY_INBOX, type Inbox, type InboxEvent, reduceInbox } from './inbox';

/** The attention of all sessions, and the answers to it. */
export interface AttentionStore {
  readonly inbox: ReadonlySignal<Inbox>;
  readonly drafts: AnswerDrafts;
  reload(): void;
  answer(attentionId: string, answer: Answer): Promise<void>;
  forget(): void;
}

// answered by somebody else, or withdrawn: an event says which
const TOO_LATE = new Set(['attention_gone', 'attention_not_found']);

export function createAttentionStore(
  api: Pick<Api, 'attention' | 'resolve'>,
  events: EventBus,
  drafts: AnswerDrafts,
  by: string,
  sentTo: (sessionId: string) => Promise<void> = async () => {},
): AttentionStore {
  const inbox = signal<Inbox>(EMPTY_INBOX);
  let raisedSince = new Set<string>();
  /** Answers whose request failed, though they may have arrived. */
  const unanswered = new Set<string>();
  const request = createLatestRequest();

  function dispatch(event: InboxEvent): void {
    inbox.value = reduceInbox(inbox.value, event);
    if (event.type === 'attention/listed') drafts.keepOnly(inbox.value.open.map(({ id }) => id));
    else if (event.type === 'attention/settled') {
      if (event.decision === 'withdrawn') drafts.withdraw(event.attentionId);
      else drafts.forget(event.attentionId);
    }
  }

  async function reload(): Promise<void> {
    raisedSince = new Set();
    const outcome = await request.send(api.attention);
    if (outcome?.ok) dispatch({ type: 'attention/listed', attention: outcome.value, raisedSince });
  }

  events.on('attention/raised', (event) => {
    raisedSince.add(event.attention.id);
    dispatch(event);
  });
  events.on('attention/settled', (event) => {
    const ours = unanswered.delete(event.attentionId) && event.by === by;
    if (ours) dispatch({ type: 'answer/begun', attentionId: event.attentionId });
    dispatch(event);
  });

  return {
    inbox,
    drafts,
    reload: () => void reload(),
    async answer(attentionId, answer) {
      if (inbox.value.answering.has(attentionId)) return;
      dispatch({ type: 'answer/begun', attentionId });
      const attention = inbox.value.open.find(({ id }) => id === attentionId);
      // messages sent before are held with the rest
      if (answer.hold && attention) await sentTo(attention.sessionId);
      const outcome = await api.resolve(attentionId, answer, by);
      if (outcome.ok) {
        // an event usually said so already
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
      if (outcome.failure.code === CLARVIS_UNREACHABLE) unanswered.add(attentionId);
      if (TOO_LATE.has(outcome.failure.code)) void reload();
    },
    forget() {
      request.stop();
      inbox.value = EMPTY_INBOX;
    },
  };
}

/** The name of this browser, for other screens that show who answered. */
export function browserName(agent: string): string {
  const device = [
    [/iPhone|iPod/, 'iPhone'],
    [/iPad/, 'iPad'],
    [/Android/, 'Android'],
    [/Windows/, 'Windows'],
    [/Macintosh|Mac OS/, 'Mac'],
    [/CrOS/, 'Chromebook'],
    [/Linux/, 'Linux'],
  ] as const;
  const match = device.find(([pattern]) => pattern.test(agent));
  return match ? `Clarvis on ${match[1]}` : 'Clarvis';
}
