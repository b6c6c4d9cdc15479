import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../src/api/messages';
import {
  type ConversationEvent,
  type ConversationState,
  emptyConversation,
  queuedMessages,
  reduce,
  visibleMessages,
} from '../../src/conversation/conversation';
import type { OptimisticMessage } from '../../src/conversation/optimistic';
import {
  ENDS,
  type Failing,
  type Failure,
  SESSION,
  type Step,
  World,
  type WorldEvent,
} from '../support/world';

const pick = fc.nat({ max: 50 });
const when = fc.option(fc.nat({ max: ENDS.length }));
const failing: fc.Arbitrary<Failing> = fc.record({
  written: fc.boolean(),
  spoke: fc.boolean(),
  pieces: fc.array(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 3 }),
  outcome: fc.constantFrom('failed' as const, 'interrupted' as const),
  ends: fc.oneof(
    fc.shuffledSubarray([...ENDS], { minLength: ENDS.length }),
    fc.shuffledSubarray(ENDS.slice(0, 2), { minLength: 2 }),
  ),
  late: fc.record({ prompt: when, reply: when }),
});
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('prompt' as const), ours: fc.boolean() }),
    fc.record({ do: fc.constant('copy' as const) }),
    fc.record({
      do: fc.constant('reply' as const),
      blocks: fc.array(fc.array(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 4 }), {
        maxLength: 3,
      }),
    }),
    fc.record({ do: fc.constant('insert' as const), behind: pick }),
    fc.record({ do: fc.constant('move' as const), which: pick, behind: pick }),
    fc.record({ do: fc.constant('change' as const), which: pick }),
    fc.record({
      do: fc.constant('queue' as const),
      uuid: fc.constantFrom('q1', 'q2'),
      state: fc.constantFrom('queued' as const, 'held' as const),
    }),
    {
      weight: 2,
      arbitrary: fc
        .record({ ours: fc.boolean(), how: failing })
        .map(({ ours, how }) => ({ do: 'fail' as const, ours, ...how })),
    },
    fc.record({
      do: fc.constant('again' as const),
      which: pick,
      failing: fc.option(failing, { freq: 1 }),
    }),
  ),
  { maxLength: 14 },
);

/** What happens to the page; each number is taken modulo what is possible then. */
type Fate =
  | { do: 'pass'; time: number }
  | { do: 'hear'; events: number }
  | { do: 'hear again'; from: number }
  | { do: 'reload'; ago: number }
  | { do: 'scroll up'; ago: number }
  | { do: 'lose'; events: number }
  | { do: 'refresh' };

const fates: fc.Arbitrary<Fate[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), time: pick }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('hear' as const), events: pick }) },
    fc.record({ do: fc.constant('hear again' as const), from: pick }),
    { weight: 2, arbitrary: fc.record({ do: fc.constant('reload' as const), ago: pick }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('scroll up' as const), ago: pick }) },
    fc.record({ do: fc.constant('lose' as const), events: pick }),
    fc.record({ do: fc.constant('refresh' as const) }),
  ),
  { maxLength: 40 },
);

/** A browser that lives through `fates`; at the end it hears everything and scrolls to the top. */
class Browser {
  state: ConversationState = emptyConversation(SESSION);
  private now = 0;
  private heard = 0;
  /** Pages from before this would leave a hole. */
  private safe = 0;
  /** Ours that were sent under the uuid that they keep. */
  private readonly sent = new Set<string>();

  constructor(
    private readonly world: World,
    private readonly limit: number,
  ) {}

  private reduce(event: ConversationEvent): void {
    this.state = reduce(this.state, event);
    const all = [...visibleMessages(this.state), ...queuedMessages(this.state)];
    const uuids = all.map((one) => one.uuid);
    expect(new Set(uuids).size, `nothing twice after ${event.type}`).toBe(uuids.length);
    this.nothingIsLost(event.type);
    this.failuresAreTold(event.type);
  }

  /** What we said is on the page, unless it stands further up than what is loaded. */
  private nothingIsLost(after: string): void {
    const waits = queuedMessages(this.state).map((queued) => queued.uuid);
    const here = new Set([...visibleMessages(this.state).map((one) => one.uuid), ...waits]);
    for (const uuid of this.sent) {
      const isPartial = this.state.before !== null || !this.state.loaded;
      const isAbove = isPartial && this.world.isWritten(uuid);
      expect(here.has(uuid) || isAbove, `${uuid} is lost after ${after}`).toBe(true);
    }
  }

  /** Each turn that failed says why, with what was said and streamed in it. */
  private failuresAreTold(after: string): void {
    const { loaded, before, seenSeq: seen, pageSeq: pageAt } = this.state;
    if (!loaded || before !== null) return;
    for (const failure of this.world.failures) {
      if (seen < failure.saidFrom && pageAt < failure.toldAt) continue;
      this.isTold(failure, seen, `of ${failure.uuid} after ${after}`);
    }
  }

  private isTold(failure: Failure, seen: number, what: string): void {
    const { uuid, written, reason, words, again } = failure;
    const visible = visibleMessages(this.state);
    const all = visible.map((one) => [one.problem, textOf(one)].join(' ')).join('\n');
    for (const each of words) {
      expect(all.split(each).length - 1, `how often “${each}” is there ${what}`).toBe(1);
    }
    const prompt = visible.find((one) => one.uuid === uuid);
    if (seen >= again) {
      // sent once more, it has not failed until that does
      const later = this.world.failures.find((one) => one.uuid === uuid && one.toldAt > again);
      if (seen < (later?.from ?? Infinity)) {
        expect(prompt?.optimistic, `the words ${what}, sent again`).not.toBe('failed');
      }
      return;
    }
    expect(all, `the reason ${what}`).toContain(reason);
    const waiting = queuedMessages(this.state).map((queued) => queued.uuid);
    expect(waiting, `what waits, with the failure ${what}`).not.toContain(uuid);
    const state = written <= seen ? undefined : 'failed';
    expect(prompt, `the words ${what}`).toBeDefined();
    expect(prompt?.optimistic, `the words ${what}`).toBe(state);
  }

  /** Time passes at the keeper; what we send is on the page before it can happen there. */
  private pass(until: number): void {
    while (this.now < until) {
      this.now += 1;
      const sent = this.world.ours.get(this.now);
      if (sent) this.send(sent);
    }
  }

  private send({ uuid, text, copied }: { uuid: string; text: string; copied: boolean }): void {
    if (!copied) this.sent.add(uuid);
    const pending: OptimisticMessage = {
      uuid,
      text,
      content: [{ type: 'text', text }],
      images: 0,
      state: 'sending',
      problem: null,
      behind: this.state.messages.at(-1)?.timestamp ?? null,
      begun: 0,
    };
    this.reduce({ type: 'sending/begun', pending });
    if (copied || uuid.length % 2 === 0) this.reduce({ type: 'sending/accepted', uuid });
  }

  private hear(until: number): void {
    while (this.heard < until) {
      const event = this.world.events[this.heard];
      this.heard += 1;
      if (event) this.tell(event, this.heard);
    }
  }

  private tell(event: WorldEvent, seq: number): void {
    if (event.type !== 'resync') {
      this.reduce(event);
      return;
    }
    // what was told before does not hold: only a page from then on does
    this.reduce({ type: 'stream/broken' });
    this.safe = Math.max(this.safe, seq);
  }

  private reload(seq: number): void {
    this.reduce({ type: 'page/loaded', page: this.world.page(seq, this.limit) });
  }

  private scrollUp(seq: number): void {
    const above = this.state.before;
    if (above === null) return;
    const { messages } = this.world.moment(seq);
    if (!messages.some((message) => message.uuid === above)) return; // not there yet: a 404
    const page = this.world.page(seq, this.limit, above);
    this.reduce({ type: 'page/above', above, page });
  }

  meet(fate: Fate): void {
    const { now } = this;
    switch (fate.do) {
      case 'pass':
        this.pass(Math.min(this.world.end, now + fate.time));
        break;
      case 'hear':
        this.hear(Math.min(now, this.heard + fate.events));
        break;
      case 'hear again': {
        const from = fate.from % (this.heard + 1);
        for (const event of this.world.events.slice(from, this.heard)) this.tell(event, this.safe);
        break;
      }
      case 'reload':
        this.reload(Math.max(this.safe, now - fate.ago));
        break;
      case 'scroll up':
        this.scrollUp(Math.max(this.safe, now - fate.ago));
        break;
      case 'lose':
        this.reduce({ type: 'stream/broken' });
        this.heard = Math.min(now, this.heard + fate.events);
        this.safe = now;
        break;
      case 'refresh': {
        const { optimistic, own } = this.state;
        this.state = { ...emptyConversation(SESSION), optimistic, own };
        this.heard = now;
        this.safe = now;
        break;
      }
    }
  }

  end(): void {
    this.pass(this.world.end);
    this.hear(this.world.end);
    if (this.state.heldEvents !== null) this.reload(this.world.end);
    while (this.state.before !== null) this.scrollUp(this.world.end);
  }
}

test('whatever happens on the way, the page ends with what the keeper has', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 20 }),
      steps,
      fates,
      fc.integer({ min: 5, max: 9 }),
      (before, steps, fates, limit) => {
        const world = new World(before, steps);
        const browser = new Browser(world, limit);
        for (const fate of fates) browser.meet(fate);
        browser.end();
        const { messages, partial, turn, queue, optimistic, failed } = browser.state;
        const truth = world.moment(world.end);
        expect(messages.map(textOf)).toEqual(truth.messages.map(textOf));
        expect({ partial, turn, queue }).toEqual({
          partial: truth.partial,
          turn: truth.turn,
          queue: truth.queue,
        });
        const unsaid = new Set(failed.flatMap(({ prompt }) => (prompt ? [prompt.uuid] : [])));
        expect(optimistic.filter(({ uuid }) => !unsaid.has(uuid))).toEqual([]);
      },
    ),
    { numRuns: Number(process.env.PROPERTY_EXAMPLES ?? 1500) },
  );
});

function textOf({ uuid, content, model }: Message): string {
  return `${uuid} ${model}: ${content.map((block) => block.text)}`;
}
