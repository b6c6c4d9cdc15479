import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { restoreSelection, selectionIn } from '../lib/selection';
import { CopyButton } from '../ui/CopyButton';
import type { ColouredPiece } from './highlighter';
import { languageOf } from './languages';
import { StreamingText } from './StreamingText';
import './code.css';

export interface CodeProps {
  text: string;
  language: string;
  /** It is still streaming, and stays uncoloured until it is complete. */
  growing?: boolean;
  /** It belongs to a streaming text: a selection in it survives changes. */
  live?: boolean;
}

/** Above this, colouring would block the page too long. */
const MAX_COLOURED = 20_000;
const LINES_A_PIECE = 100;

/** A block of code with a copy button. It is coloured once it is visible. */
export function Code({ text, language, growing = false, live = false }: CodeProps) {
  const box = useRef<HTMLPreElement>(null);
  const name = fenceLanguage(language);
  const pieces = useColours(box, text, name, growing || text.length > MAX_COLOURED);
  return (
    <figure class="code" dir="ltr">
      <figcaption>
        <span>{name || 'text'}</span>
        <CopyButton text={text} label="Copy this code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: wide code is scrolled with the keys */}
      <pre ref={box} tabIndex={0}>
        {pieces ? <Coloured pieces={pieces} /> : <Plain text={text} live={live} />}
      </pre>
    </figure>
  );
}

/** ```` ```ts title="a.ts" ```` is TypeScript. */
function fenceLanguage(info: string): string {
  return /^[\w+#.-]{1,24}/.exec(info.trim())?.[0].toLowerCase() ?? '';
}

function Coloured({ pieces }: { pieces: readonly ColouredPiece[] }) {
  return (
    <code>
      {pieces.map((piece, at) =>
        piece.className ? (
          <span key={at} class={piece.className}>
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </code>
  );
}

/** Chunks of a hundred lines: while the code grows, only the last one is laid out again. */
function Plain({ text, live }: { text: string; live: boolean }) {
  const lines = text.split('\n');
  if (lines.length <= LINES_A_PIECE && !live) return <code>{text}</code>;
  const parts: string[] = [];
  for (let at = 0; at < lines.length; at += LINES_A_PIECE) {
    parts.push(lines.slice(at, at + LINES_A_PIECE).join('\n'));
  }
  return (
    <code>
      {parts.map((part, at) => (
        <span key={at} class="code-part">
          {live ? <StreamingText text={part} /> : part}
        </span>
      ))}
    </code>
  );
}

function useColours(
  box: { current: HTMLElement | null },
  text: string,
  language: string,
  never: boolean,
): ColouredPiece[] | null {
  const [coloured, setColoured] = useState<{ text: string; pieces: ColouredPiece[] | null } | null>(
    null,
  );
  const grammar = languageOf(language);
  useEffect(() => {
    const element = box.current;
    if (never || grammar === null || !element) return;
    let wanted = true;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      void import('./highlighter')
        .then(({ colour }) => colour(text, grammar))
        .then(
          (pieces) => wanted && setColoured({ text, pieces }),
          () => {}, // uncoloured code is readable too
        );
    });
    observer.observe(element);
    return () => {
      wanted = false;
      observer.disconnect();
    };
  }, [box, text, grammar, never]);
  // the elements are replaced, so the selection is restored
  const pieces = coloured?.text === text ? coloured.pieces : null;
  const drawn = useRef(pieces);
  const selected = drawn.current === pieces ? null : selectionIn(box.current);
  useLayoutEffect(() => {
    drawn.current = pieces;
    restoreSelection(box.current, selected);
  });
  return pieces;
}
