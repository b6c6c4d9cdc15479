import type { Attention } from '../api/attention';
import { BackButton } from '../app/BackButton';
import { sessionHref } from '../app/routes';
import type { AppStore } from '../app/store';
import { relativeTime } from '../lib/format';
import { titleOf } from '../sessions/labels';
import { Icon } from '../ui/Icon';
import { useNow } from '../ui/useNow';
import { AttentionCard } from './cards/AttentionCard';
import { SettledLine } from './cards/SettledLine';
import type { Notifications } from './notifications';
import '../app/page-head.css';
import './inbox.css';

/** Every question that waits, of every session, and how the last ones were settled. */
export function InboxPage({ app, notifications }: { app: AppStore; notifications: Notifications }) {
  const { attention: attentionStore, sessions } = app;
  const inbox = attentionStore.inbox.value;
  const listed = sessions.listing.value.sessions;
  const now = useNow(20_000);
  const sessionOf = (attention: Attention) => listed.get(attention.sessionId);

  return (
    <div class="inbox">
      <header class="session-head">
        <BackButton />
        <h1 class="inbox-title">Waiting for you</h1>
        <NotifySwitch notifications={notifications} />
      </header>
      <div class="inbox-log">
        <div class="inbox-column">
          {inbox.open.length === 0 && <p class="inbox-empty">Nothing waits for you.</p>}
          {inbox.open.map((attention, at) => {
            const session = sessionOf(attention);
            return (
              <article key={attention.id} class="inbox-one">
                <p class="inbox-where">
                  <a href={sessionHref(attention.sessionId)} dir="auto">
                    {session ? titleOf(session) : 'A session'}
                  </a>
                  {session?.project && <bdi>{session.project}</bdi>}
                  <time dateTime={attention.raised ?? undefined}>
                    {relativeTime(attention.raised, now)}
                  </time>
                </p>
                <AttentionCard
                  attention={attention}
                  workdir={session?.workdir ?? null}
                  source={app.api}
                  drafts={attentionStore.drafts}
                  // after an answer the list moves up, and another card may come under the pointer
                  replacedAnother
                  answering={inbox.answering.has(attention.id)}
                  problem={inbox.problems.get(attention.id) ?? null}
                  keys={at === 0}
                  onAnswer={(answer) => void attentionStore.answer(attention.id, answer)}
                />
              </article>
            );
          })}
          {inbox.settled.length > 0 && (
            <section class="inbox-settled" aria-label="Settled lately">
              <h2>Settled lately</h2>
              {inbox.settled.map((settled) => (
                <a
                  key={settled.attention.id}
                  class="inbox-past"
                  href={sessionHref(settled.attention.sessionId)}
                >
                  <SettledLine
                    settled={settled}
                    workdir={sessionOf(settled.attention)?.workdir ?? null}
                  />
                </a>
              ))}
            </section>
          )}
        </div>
      </div>
    </div>
  );
}

function NotifySwitch({ notifications }: { notifications: Notifications }) {
  const state = notifications.state.value;
  if (state === 'missing') return null;
  // a button that goes away when it is pressed would say nothing
  if (state === 'refused') {
    return <p class="inbox-refused">This browser blocks notifications</p>;
  }
  return (
    <button
      type="button"
      class="quiet"
      aria-pressed={state === 'on'}
      onClick={() => (state === 'on' ? notifications.turnOff() : void notifications.turnOn())}
    >
      <Icon name="bell" />
      {state === 'on' ? 'Notifications are on' : 'Notify me'}
    </button>
  );
}
