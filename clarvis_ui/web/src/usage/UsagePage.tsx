import { useComputed } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Session } from '../api/sessions';
import type { Amount, Usage, UsageBy, UsageRow } from '../api/usage';
import { BackButton } from '../app/BackButton';
import { sessionHref, timelineHref } from '../app/routes';
import type { AppStore } from '../app/store';
import { money, roughly } from '../lib/format';
import { titleOf } from '../sessions/labels';
import { useAbortableEffect } from '../ui/useRequest';
import { overTime } from './bars';
import { usageChangeKey } from './changeKey';
import { DayPlot } from './DayPlot';
import { RankedList } from './RankedList';
import '../app/page-head.css';
import '../attention/inbox.css';
import './usage.css';

const SPANS = [
  { days: 30, label: '30 days' },
  { days: 90, label: '90 days' },
  { days: null, label: 'All' },
] as const;
const MAX_DAYS = 180;
/** How long changes are collected before the usage is loaded again, in milliseconds. */
const GATHERED_MS = 1000;
const RANKED: readonly { by: UsageBy; title: string }[] = [
  { by: 'project', title: 'By project' },
  { by: 'model', title: 'By model' },
  { by: 'session', title: 'By session' },
];

type LoadedUsage = Partial<Record<UsageBy, Usage>>;

/** Tokens and cost, from the transcripts. */
export function UsagePage({ app }: { app: Pick<AppStore, 'api' | 'sessions'> }) {
  const { api, sessions } = app;
  const spent = useThrottled(useComputed(() => usageChangeKey(sessions.listing.value)).value);
  const [days, setDays] = useState<number | null>(30);
  const [loaded, setLoaded] = useState<LoadedUsage>({});
  const [problem, setProblem] = useState('');

  useAbortableEffect(
    (signal) => {
      const after = days === null ? null : dayAgo(days - 1);
      const load = async (by: UsageBy) => {
        const outcome = await api.usage(by, after, signal);
        if (signal.aborted) return;
        if (outcome.ok) setLoaded((before) => ({ ...before, [by]: outcome.value }));
        setProblem(outcome.ok ? '' : outcome.failure.sentence);
      };
      for (const by of ['day', 'project', 'model', 'session'] as const) void load(by);
    },
    [api, days, spent],
  );

  const byDay = loaded.day;
  return (
    <div class="inbox">
      <header class="session-head">
        <BackButton />
        <h1 class="inbox-title">Usage</h1>
        <fieldset class="usage-span">
          <legend class="spoken">Of which time</legend>
          {SPANS.map((span) => (
            <button
              key={span.label}
              type="button"
              class="quiet"
              aria-pressed={days === span.days}
              onClick={() => setDays(span.days)}
            >
              {span.label}
            </button>
          ))}
        </fieldset>
      </header>
      <div class="inbox-log">
        <div class="inbox-column usage">
          <p class="usage-problem" role="alert">
            {problem}
          </p>
          {byDay && <Total total={byDay.total} complete={byDay.complete} />}
          <p>
            <a href={timelineHref()}>Timeline of all projects</a>
          </p>
          {byDay && <DayPlot spans={overTime(byDay.rows, MAX_DAYS)} zone={byDay.zone} />}
          {RANKED.map(({ by, title }) => {
            const used = loaded[by]?.rows ?? [];
            const rows = by === 'session' ? named(sessions.listing.value.sessions, used) : used;
            return (
              <RankedList key={by} title={title} rows={rows} href={(key) => hrefOf(by, key)} />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** The value, updated only after a pause, so that frequent changes cause few requests. */
function useThrottled(value: string): string {
  const [seen, setSeen] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  const changed = seen !== value;
  useEffect(() => {
    if (!changed) return;
    const timer = setTimeout(() => setSeen(latest.current), GATHERED_MS);
    return () => clearTimeout(timer);
  }, [changed]);
  return seen;
}

/** Sessions under the names that the list has for them now. */
function named(sessions: ReadonlyMap<string, Session>, used: readonly UsageRow[]): UsageRow[] {
  return used.map((one) => {
    const session = sessions.get(one.key);
    return session ? { ...one, label: titleOf(session) } : one;
  });
}

/** The page of a session, or the timeline of a project. */
function hrefOf(by: UsageBy, key: string): string | null {
  if (by === 'session') return sessionHref(key);
  return by === 'project' && key !== '' ? timelineHref({ workdir: key }) : null;
}

function Total({ total, complete }: { total: Amount; complete: boolean }) {
  return (
    <section class="usage-total" aria-label="In all">
      <p class="usage-cost">{money(total.costUsd)}</p>
      <dl>
        <Figure name="Input" amount={total.input} />
        <Figure name="Output" amount={total.output} />
        <Figure name="Cache written" amount={total.cacheWrite} />
        <Figure name="Cache read" amount={total.cacheRead} />
      </dl>
      <p class="usage-note">
        At list prices, every reply once, subagents included.
        {!complete && ' Not every session has been read yet; this will be more.'}
      </p>
    </section>
  );
}

function Figure({ name, amount }: { name: string; amount: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{roughly(amount)}</dd>
    </div>
  );
}

/** A day in the calendar of the viewer. */
function dayAgo(days: number): string {
  const then = new Date();
  then.setDate(then.getDate() - days);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())}`;
}
