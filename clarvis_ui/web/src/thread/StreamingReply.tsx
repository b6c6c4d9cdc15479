import type { ReadonlySignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Markdown } from '../content/Markdown';
import { summarize } from '../content/tools/toolSummary';
import type { Partial, Turn, TurnStatus } from '../conversation/conversation';
import { partialInput } from '../conversation/finalMessage';
import { counted } from '../lib/format';
import { useNow } from '../ui/useNow';
import { Thinking } from './RowView';
import { SummaryLine } from './ToolCalls';
import { partialKey } from './useStreamHandover';

/** The block that is being written. A delta draws only this again. */
export function StreamingReply({ partial }: { partial: ReadonlySignal<Partial | null> }) {
  return partial.value && <StreamingBlock partial={partial.value} />;
}

function StreamingBlock({ partial }: { partial: Partial }) {
  const text = useFrames(partial.text);
  const key = partialKey(partial);
  switch (partial.kind) {
    case 'text':
      return (
        <div class="thread-row" data-row={key} data-kind="text">
          <article class="reply" aria-label="Claude" aria-busy="true">
            <Markdown text={text} growing />
          </article>
        </div>
      );
    case 'thinking':
      return (
        <div class="thread-row" data-row={key} data-kind="thinking">
          <Thinking name={key} text={text} now />
        </div>
      );
    case 'input':
      return (
        <div class="thread-row" data-row={key} data-kind="tool">
          <Preparing tool={partial.tool ?? 'Tool'} text={text} />
        </div>
      );
    default:
      return partial.kind satisfies never;
  }
}

/** A call whose input is still streaming: the part that has arrived. */
function Preparing({ tool, text }: { tool: string; text: string }) {
  const summary = summarize({
    id: '',
    name: tool,
    input: partialInput(text),
    result: null,
    deniedBy: null,
    running: true,
  });
  const lines = text.split('\\n').length;
  return (
    <div class="tool">
      <p class="fold">
        <SummaryLine
          summary={{ ...summary, outcome: lines > 3 ? counted(lines, 'line') : 'writing…' }}
        />
      </p>
    </div>
  );
}

/** The newest text, at most once a frame. */
function useFrames(text: string): string {
  const [drawn, setShown] = useState(text);
  const newest = useRef(text);
  const frame = useRef(0);
  newest.current = text;
  if (drawn !== text && frame.current === 0) {
    frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      setShown(newest.current);
    });
  }
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  // another block: not one frame of the old one under its name
  return text.startsWith(drawn) ? drawn : text;
}

export interface TurnLineProps {
  turn: Turn;
  /** Something is being written: that is sign enough. */
  quiet: boolean;
  /** Whether an open question waits for the person. */
  asks: boolean;
}

/** The line of a running turn, with its status. */
export function TurnLine({ turn, quiet, asks }: TurnLineProps) {
  const now = useNow(1000);
  const words = statusWords(turn.status);
  // the card says it, and the time that one takes to answer is not Claude's
  if (asks || (quiet && !words)) return null;
  const began = turn.started === null ? Number.NaN : Date.parse(turn.started);
  const seconds = Math.floor((now - began) / 1000);
  return (
    <p class="turn" role="status">
      <span class="turn-dot" aria-hidden="true" />
      <span dir="auto">{words ?? 'Working…'}</span>
      {seconds >= 3 && <span aria-hidden="true">{duration(seconds)}</span>}
    </p>
  );
}

function duration(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
}

function statusWords(status: TurnStatus | null): string | null {
  if (!status) return null;
  switch (status.status) {
    case 'retrying': {
      const wait = status.delayMs === null ? '' : ` in ${Math.ceil(status.delayMs / 1000)} s`;
      const tries =
        status.attempt !== null && status.maxRetries !== null
          ? ` (${status.attempt} of ${status.maxRetries})`
          : '';
      const why = status.error ? `: ${status.error}` : '';
      return `The API did not answer${why}. Trying again${wait}${tries}`;
    }
    case 'compacting':
      return 'Compacting the conversation…';
    case 'rateLimited':
      return status.error ?? 'The limit of use is reached.';
    case 'taskStarted':
    case 'taskProgress':
    case 'taskUpdated':
      return status.description;
    case 'taskEnded':
    case 'working':
      return null;
    default:
      return status.status satisfies never;
  }
}
