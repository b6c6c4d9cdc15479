import { type ReadonlySignal, useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Routed } from '../api/routing';
import { SearchedText } from '../content/tools/TerminalOutput';
import type { Partial, Turn, VisibleMessage } from '../conversation/conversation';
import type { ExpandState } from '../lib/expanded';
import { Icon } from '../ui/Icon';
import { memo } from '../ui/memo';
import { useDelayed } from '../ui/useDelayed';
import { ThreadContext, type ThreadContextValue } from './context';
import { FindBar } from './find/FindBar';
import { useFind } from './find/useFind';
import { RowView } from './RowView';
import { type Chunk, type ChunkPiece, chunksOf, sameChunk } from './rows/chunks';
import { type Row, reuseRows, rowsOf } from './rows/rows';
import { StreamingReply, TurnLine } from './StreamingReply';
import { HoldScroll } from './scroll/scrollAnchor';
import { useScrollRestore } from './scroll/useScrollRestore';
import { useVirtualScroll, type VirtualScroll } from './scroll/useVirtualScroll';
import { useAnnouncement } from './useAnnouncement';
import { useThreadShortcuts } from './useShortcuts';
import { partialKey, useStreamHandover } from './useStreamHandover';
import './thread.css';
import '../app/print.css';

export interface ThreadProps {
  sessionId: string;
  workdir: string | null;
  messages: readonly VisibleMessage[];
  partial: ReadonlySignal<Partial | null>;
  turn: Turn | null;
  hasOlder: boolean;
  loading: boolean;
  expandState: ExpandState;
  onOlder(pages?: number): void;
  fetchSubagent(agentId: string): Promise<readonly VisibleMessage[]>;
  waiting: ReadonlySignal<ReadonlySet<string>>;
  unanswered: ReadonlySignal<ReadonlySet<string>>;
  routed: ReadonlySignal<ReadonlyMap<string, Routed>>;
  onFork(uuid: string): void;
  onRetry(uuid: string): void;
  onEdit(uuid: string): void;
  onOtherDirectory(uuid: string): void;
}

/** A conversation to read. Each session has a view of its own. */
export function Thread(props: ThreadProps) {
  return <Conversation key={props.sessionId} {...props} />;
}

function Conversation(props: ThreadProps) {
  const { sessionId, messages, partial, turn, hasOlder, loading, expandState, onOlder } = props;
  const box = useRef<HTMLElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const rows = useRows(messages, turn !== null, hasOlder);
  const chunks = useChunks(rows);
  const wantsOlder = hasOlder && !loading;
  const virtualScroll = useVirtualScroll(box, inner, chunks, () => wantsOlder && onOlder());
  const { fetchSubagent } = props;
  const reading = { box, rows, window: virtualScroll, hasOlder, loading, onOlder };
  const find = useFind({ ...reading, expandState, fetchSubagent });
  const position = useScrollRestore({ ...reading, sessionId });
  // only its key: deltas draw the block itself
  const writing = useComputed(() => partial.value && partialKey(partial.value)).value;
  useStreamHandover({ box, partial, writing, rows, expandState });
  useThreadShortcuts({ box, rows, window: virtualScroll, find, toBeginning: position.toBeginning });
  useScrollToOwnPrompt(rows, virtualScroll);
  const announcement = useAnnouncement(rows);
  const reader = useContextValue(props, virtualScroll.hold);

  return (
    <ThreadProviders reader={reader} sought={find.open ? find.query.toLowerCase() : ''}>
      <div class="thread">
        {find.open && <FindBar find={find} />}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keys */}
        <section class="log" ref={box} tabIndex={0} aria-label="Conversation" aria-busy={loading}>
          <div class="column">
            {hasOlder && <p class="older">{loading ? 'Loading earlier messages…' : ' '}</p>}
            <div class="rows" ref={inner}>
              <Chunks pieces={virtualScroll.pieces} />
            </div>
            <StreamingReply partial={partial} />
            {turn && (
              <TurnLine turn={turn} quiet={writing !== null} asks={props.waiting.value.size > 0} />
            )}
            {rows.length === 0 && !writing && !turn && <Nothing loading={loading} />}
          </div>
          <ToEnd
            rows={rows}
            following={virtualScroll.following}
            far={virtualScroll.far}
            onGo={virtualScroll.toEnd}
            onFind={find.start}
          />
        </section>
        {position.notice && (
          <p class="thread-notice" role="status">
            {position.notice}
          </p>
        )}
        <p class="spoken" aria-live="polite">
          {announcement}
        </p>
      </div>
    </ThreadProviders>
  );
}

/** Provides what rows and blocks need of the conversation. */
function ThreadProviders({ reader, sought, children }: ThreadProvidersProps) {
  return (
    <ThreadContext.Provider value={reader}>
      <HoldScroll.Provider value={reader.hold}>
        <SearchedText.Provider value={sought}>{children}</SearchedText.Provider>
      </HoldScroll.Provider>
    </ThreadContext.Provider>
  );
}

interface ThreadProvidersProps {
  reader: ThreadContextValue;
  sought: string;
  children: ComponentChildren;
}

function useRows(current: readonly VisibleMessage[], running: boolean, hasOlder: boolean): Row[] {
  const messages = useStableMessages(current);
  const before = useRef<ReadonlyMap<string, Row>>(new Map());
  return useMemo(() => {
    const rows = reuseRows(before.current, rowsOf(messages, { running, hasOlder }));
    before.current = new Map(rows.map((row) => [row.key, row]));
    return rows;
  }, [messages, running, hasOlder]);
}

/** The same array as long as it has the same messages. */
function useStableMessages(messages: readonly VisibleMessage[]): readonly VisibleMessage[] {
  const steady = useRef(messages);
  const before = steady.current;
  if (before.length !== messages.length || messages.some((message, at) => message !== before[at])) {
    steady.current = messages;
  }
  return steady.current;
}

function useChunks(rows: readonly Row[]): readonly Chunk[] {
  return useMemo(() => chunksOf(rows), [rows]);
}

function useContextValue(
  { sessionId, workdir, waiting, unanswered, routed, expandState, ...acts }: ThreadProps,
  hold: ThreadContextValue['hold'],
): ThreadContextValue {
  const live = useRef({ ...acts, hold });
  useLayoutEffect(() => {
    live.current = { ...acts, hold };
  });
  // one object for good, so that it draws no row again
  return useMemo(
    () => ({
      sessionId,
      workdir,
      expandState,
      hold: () => live.current.hold(),
      fetchSubagent: (agentId) => live.current.fetchSubagent(agentId),
      waiting,
      unanswered,
      routed,
      onFork: (uuid) => live.current.onFork(uuid),
      unforkable: null,
      onRetry: (uuid) => live.current.onRetry(uuid),
      onEdit: (uuid) => live.current.onEdit(uuid),
      onOtherDirectory: (uuid) => live.current.onOtherDirectory(uuid),
    }),
    [sessionId, workdir, expandState, waiting, unanswered, routed],
  );
}

/** Scrolls to the end when the person sends a message. */
function useScrollToOwnPrompt(rows: readonly Row[], { toEnd }: VirtualScroll): void {
  const last = rows.at(-1);
  const ownPrompt =
    last?.kind === 'prompt' && last.message.optimistic === 'sending' ? last.key : undefined;
  const before = useRef(ownPrompt);
  useEffect(() => {
    if (ownPrompt !== undefined && before.current !== ownPrompt) toEnd();
    before.current = ownPrompt;
  }, [ownPrompt, toEnd]);
}

/** All chunks: rendered, or as an empty box of their height. */
const Chunks = memo(function Chunks({ pieces }: { pieces: readonly ChunkPiece[] }) {
  return pieces.map((piece) =>
    piece.chunk ? (
      <ChunkView key={piece.key} chunk={piece.chunk} />
    ) : (
      <div
        key={piece.key}
        data-from={piece.from}
        data-to={piece.to}
        style={{ height: `${piece.height}px` }}
      />
    ),
  );
});

const ChunkView = memo(
  function ChunkView({ chunk }: { chunk: Chunk }) {
    return (
      <div class="chunk" data-chunk={chunk.key}>
        {chunk.rows.map((placed) => (
          <RowView key={placed.row.key} placed={placed} />
        ))}
      </div>
    );
  },
  (before, after) => sameChunk(before.chunk, after.chunk),
);

function Nothing({ loading }: { loading: boolean }) {
  const late = useDelayed(200);
  if (!loading) return <p class="thread-nothing">Nothing has been said here yet.</p>;
  if (!late) return null;
  return (
    <div class="thread-skeleton" role="status" aria-label="Loading the conversation">
      <i />
      <i />
      <i />
      <i />
    </div>
  );
}

interface ToEndProps {
  rows: readonly Row[];
  following: boolean;
  far: boolean;
  onGo(): void;
  onFind(): void;
}

/** A button to the end; it says whether there are new messages. */
function ToEnd({ rows, following, far, onGo, onFind }: ToEndProps) {
  const last = rows.at(-1)?.key;
  const seen = useRef(last);
  useEffect(() => {
    if (following) seen.current = last;
  }, [following, last]);
  const fresh = !following && seen.current !== undefined && seen.current !== last;
  if (following || (!fresh && !far)) return null;
  return (
    <div class="to-end">
      <button type="button" data-fresh={fresh} onClick={onGo}>
        {fresh ? 'New messages' : 'To the end'}
        <Icon name="downwards" />
      </button>
      {/* for those without keys */}
      <button type="button" class="to-find" aria-label="Find" onClick={onFind}>
        <Icon name="search" />
      </button>
    </div>
  );
}
