import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { sessionHref } from '../../app/routes';
import { linkedMessage } from '../messageLink';
import { type Row, shows } from '../rows/rows';
import { readScrollPosition, type ScrollPosition, writeScrollPosition } from './scrollPosition';
import { findRow, type VirtualScroll } from './useVirtualScroll';

export interface ScrollRestoreOptions {
  sessionId: string;
  rows: readonly Row[];
  window: VirtualScroll;
  box: { current: HTMLElement | null };
  hasOlder: boolean;
  loading: boolean;
  onOlder(pages?: number): void;
}

type Wanted = { link: string } | { position: ScrollPosition & { at: 'row' } } | 'beginning';

const SAVE_AFTER_MS = 250;
/** A linked message stands this far below the edge, so that a little before it is visible. */
const FROM_EDGE = 80;
/** So often one asks for earlier messages, each time for twice as many: a hundred thousand back. */
const MAX_STEPS = 20;

/**
 * Where the view begins: at the message that the address names, else where one was reading, else
 * at the end. Earlier pages are asked for until the place is there.
 */
export function useScrollRestore(where: ScrollRestoreOptions): {
  notice: string | null;
  toBeginning(): void;
} {
  const { sessionId, rows, window: view, box, hasOlder, loading, onOlder } = where;
  const [wanted, setWanted] = useState<Wanted | null>(() => firstWanted(sessionId));
  const [notice, setNotice] = useState<string | null>(null);
  const steps = useRef(0);
  const live = useRef({ view, wanted });
  live.current = { view, wanted };

  useEffect(() => {
    const onHash = () => {
      const link = linkedMessage(location.hash, sessionId);
      steps.current = 0;
      if (link) setWanted({ link });
    };
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, [sessionId]);

  useEffect(() => {
    if (!wanted || rows.length === 0) return;
    const row = rowOf(wanted, rows, hasOlder);
    if (row) {
      view.jump(row.key, offsetOf(wanted));
      if (isLink(wanted)) flash(box.current, row.key);
      setNotice(null);
      setWanted(null);
    } else if (hasOlder && steps.current < MAX_STEPS) {
      setNotice(wayTo(wanted));
      if (!loading) {
        onOlder(2 ** steps.current);
        steps.current += 1;
      }
    } else {
      setNotice(isLink(wanted) ? 'That message is not in this conversation.' : null);
      setWanted(null);
    }
  }, [wanted, rows, hasOlder, loading, onOlder, view, box]);

  useEffect(() => {
    const element = box.current;
    let timer = 0;
    const save = () => {
      clearTimeout(timer);
      const { view, wanted } = live.current;
      const position = wanted ? null : view.position();
      if (position) writeScrollPosition(localStorage, sessionId, position);
      // whoever moved on from the message of a link comes back to where he went
      if (position && view.moved() && linkedMessage(location.hash, sessionId)) {
        history.replaceState(history.state, '', sessionHref(sessionId));
      }
    };
    const later = () => {
      clearTimeout(timer);
      timer = window.setTimeout(save, SAVE_AFTER_MS);
    };
    element?.addEventListener('scroll', later, { passive: true });
    addEventListener('pagehide', save);
    return () => {
      save();
      element?.removeEventListener('scroll', later);
      removeEventListener('pagehide', save);
    };
  }, [sessionId, box]);

  const toBeginning = useCallback(() => {
    steps.current = 0;
    setWanted('beginning');
  }, []);
  return { notice, toBeginning };
}

function isLink(wanted: Wanted): wanted is { link: string } {
  return typeof wanted === 'object' && 'link' in wanted;
}

function rowOf(wanted: Wanted, rows: readonly Row[], hasOlder: boolean): Row | undefined {
  if (wanted === 'beginning') return hasOlder ? undefined : rows[0];
  if (isLink(wanted)) return rows.find((row) => shows(row, wanted.link));
  const { key, uuid } = wanted.position;
  // calls that are told as one may have others before them by now, and another key
  return rows.find((row) => row.key === key) ?? rows.find((row) => shows(row, uuid));
}

function offsetOf(wanted: Wanted): number {
  return typeof wanted === 'object' && 'position' in wanted ? wanted.position.offset : FROM_EDGE;
}

function wayTo(wanted: Wanted): string {
  if (wanted === 'beginning') return 'Going to the beginning…';
  return isLink(wanted) ? 'Going to the message…' : 'Going back to where you were…';
}

function firstWanted(sessionId: string): Wanted | null {
  const link = linkedMessage(location.hash, sessionId);
  if (link) return { link };
  const position = readScrollPosition(localStorage, sessionId);
  return position.at === 'row' ? { position } : null;
}

/** Shows which message was meant, once it is drawn. */
function flash(box: HTMLElement | null, key: string): void {
  requestAnimationFrame(() => {
    const element = box && findRow(box, key);
    if (!element) return;
    element.dataset.meant = 'true';
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
  });
}
