import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { VisibleMessage } from '../../conversation/conversation';
import type { ExpandState } from '../../lib/expanded';
import type { Row } from '../rows/rows';
import { findRow, type VirtualScroll } from '../scroll/useVirtualScroll';
import { expandFor, type FindHit, hitsIn, nearestOf, rangesIn } from './find';
import { useSubagentTexts } from './useSubagentTexts';

export interface Find {
  open: boolean;
  /** Grows each time find is opened; the field is then selected. */
  openCount: number;
  query: string;
  total: number;
  current: number;
  /** Whether there is more that may have it: earlier pages, or agents whose words come yet. */
  more: boolean;
  /** Whether subagents are being read that were never unfolded. */
  reading: boolean;
  seeking: boolean;
  start(): void;
  search(query: string): void;
  step(by: 1 | -1): void;
  close(): void;
}

export interface FindOptions {
  box: { current: HTMLElement | null };
  rows: readonly Row[];
  window: VirtualScroll;
  expandState: ExpandState;
  hasOlder: boolean;
  loading: boolean;
  onOlder(): void;
  fetchSubagent(agentId: string): Promise<readonly VisibleMessage[]>;
}

/** Subagents are searched from so many characters on. */
const MIN_CHARACTERS = 2;

/** Find in the conversation: over everything loaded, going on into earlier pages as needed. */
export function useFind(where: FindOptions): Find {
  const { box, rows, hasOlder, loading, onOlder } = where;
  const [open, setOpen] = useState(false);
  const [openCount, setAsked] = useState(0);
  const [query, setQuery] = useState('');
  const [hit, setHit] = useState<FindHit | null>(null);
  const [seeking, setSeeking] = useState(false);
  const store = open && query.trim().length >= MIN_CHARACTERS;
  const { texts: subagentTexts, reading, cut } = useSubagentTexts(rows, store, where.fetchSubagent);
  const hits = useMemo(
    () => (open ? hitsIn(rows, query, subagentTexts) : []),
    [open, rows, query, subagentTexts],
  );
  const current = hits.findIndex((each) => each.key === hit?.key && each.nth === hit.nth);
  const live = useRef({ ...where, subagentTexts });
  live.current = { ...where, subagentTexts };
  /** The row where the search began; null: the end. */
  const origin = useRef<string | null>(null);

  const go = useCallback(
    (to: FindHit) => {
      setHit(to);
      const { box, rows, expandState, window, subagentTexts } = live.current;
      const row = rows.find((each) => each.key === to.key);
      if (row) expandFor(row, query, expandState, subagentTexts);
      window.jump(to.key, (box.current?.clientHeight ?? 0) / 4);
    },
    [query],
  );

  // a new question begins with the place that is nearest to where one was reading, and not to
  // where the letters typed so far have led
  useEffect(() => {
    if (!open || query.trim() === '' || (current >= 0 && hit !== null)) return;
    const { window, rows } = live.current;
    if (window.moved()) {
      const position = window.position();
      origin.current = position?.at === 'row' ? position.key : null;
    }
    const nearest = nearestOf(hits, rows, origin.current);
    if (nearest) {
      setSeeking(false);
      go(nearest);
    } else if (hasOlder) setSeeking(true);
  }, [open, query, hits, current, hit, hasOlder, go]);

  // further back, page by page, until there is something or nothing is left
  useEffect(() => {
    if (!seeking) return;
    const before = current > 0 ? hits[current - 1] : undefined;
    if (before) {
      setSeeking(false);
      go(before);
    } else if (!hasOlder) setSeeking(false);
    else if (!loading) onOlder();
  }, [seeking, hits, current, hasOlder, loading, onOlder, go]);

  useMarks(open, box, query, hit);

  return {
    open,
    openCount,
    query,
    total: hits.length,
    current: Math.max(0, current),
    more: hasOlder || reading || cut,
    reading,
    seeking,
    start() {
      setOpen(true);
      setAsked(openCount + 1);
    },
    search(words) {
      setQuery(words);
      setHit(null);
      setSeeking(false);
    },
    step(by) {
      if (hits.length === 0) return;
      const next = current + by;
      if (next < 0 && hasOlder) setSeeking(true);
      else {
        const to = hits[(next + hits.length) % hits.length];
        if (!to) return;
        origin.current = to.key;
        go(to);
      }
    },
    close() {
      setOpen(false);
      setHit(null);
      setSeeking(false);
      box.current?.focus({ preventScroll: true });
    },
  };
}

/** Marks all places that are drawn, and the current one more; the page's own text is untouched. */
function useMarks(
  open: boolean,
  box: { current: HTMLElement | null },
  query: string,
  hit: FindHit | null,
): void {
  useEffect(() => {
    const view = box.current;
    const registry = globalThis.CSS?.highlights;
    if (!open || !view || !registry || query.trim() === '') return;
    let arrived = false;
    const mark = () => {
      registry.set('found', new Highlight(...rangesIn(view, query)));
      const element = hit && findRow(view, hit.key);
      const ranges = element ? rangesIn(element, query) : [];
      const here = ranges[Math.min(hit?.nth ?? 0, ranges.length - 1)];
      registry.set('found-now', here ? new Highlight(here) : new Highlight());
      if (here && !arrived) {
        arrived = true;
        bringIntoSight(view, here);
      }
    };
    let frame = requestAnimationFrame(mark);
    // rows come and go as one scrolls
    const observer = new MutationObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(mark);
    });
    observer.observe(view, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      registry.delete('found');
      registry.delete('found-now');
    };
  }, [open, box, query, hit]);
}

/** A place deep inside of a long row, or of an output that scrolls by itself. */
function bringIntoSight(view: HTMLElement, range: Range): void {
  const inner = range.startContainer.parentElement?.closest<HTMLElement>('.output-all, pre');
  if (inner && inner.scrollHeight > inner.clientHeight) {
    inner.scrollTop += range.getBoundingClientRect().top - inner.getBoundingClientRect().top - 40;
  }
  const rectangle = range.getBoundingClientRect();
  const frame = view.getBoundingClientRect();
  if (rectangle.top < frame.top + 60 || rectangle.bottom > frame.bottom - 60) {
    view.scrollTop += rectangle.top - frame.top - frame.height / 3;
  }
}
