import type { MarkedToken, Token } from 'marked';
import { type ComponentChildren, Fragment } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { safeHref, stripControls } from '../lib/sanitize';
import { memo } from '../ui/memo';
import { Code } from './Code';
import { decodeEntities, GrowingMarkdown, lex } from './markdownTokens';
import { StreamingText } from './StreamingText';
import './markdown.css';

export interface MarkdownProps {
  text: string;
  /** The text is still streaming: only its end is parsed again as it grows. */
  growing?: boolean;
}

/** Markdown as Claude writes it, as elements of our own. HTML in it stays text. */
export function Markdown({ text, growing = false }: MarkdownProps) {
  const reader = useRef<GrowingMarkdown | null>(null);
  const tokens = useMemo(() => {
    const clean = stripControls(text);
    if (!growing) return lex(clean);
    reader.current ??= new GrowingMarkdown();
    return reader.current.grow(clean);
  }, [text, growing]);
  return (
    <div class="markdown">
      {growing
        ? partsOf(tokens).map((part, at) => <GrowingPart key={at} tokens={part} />)
        : tokens.map((token, at) => <Block key={at} token={token} />)}
    </div>
  );
}

const BLOCKS_A_PART = 12;

/** Chunks: while a long text grows, only the last one is compared and laid out again. */
function partsOf(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [];
  for (let at = 0; at < tokens.length; at += BLOCKS_A_PART) {
    parts.push(tokens.slice(at, at + BLOCKS_A_PART));
  }
  return parts;
}

const GrowingPart = memo(
  function GrowingPart({ tokens }: { tokens: readonly Token[] }) {
    return (
      <div class="markdown-part">
        {tokens.map((token, at) => (
          <Block key={at} token={token} growing={at === tokens.length - 1} live />
        ))}
      </div>
    );
  },
  ({ tokens: one }, { tokens: other }) =>
    one.length === other.length && one.every((token, at) => token === other[at]),
);

interface BlockProps {
  token: Token;
  /** The last one: more of it may come. */
  growing?: boolean;
  /** It belongs to a streaming text: a selection in it survives changes. */
  live?: boolean;
}

/** Rendered again only if its own source changed, however long the text around it gets. */
const Block = memo(
  function Block({ token, growing = false, live = false }: BlockProps) {
    return block(token as MarkedToken, growing, live);
  },
  (before, after) =>
    before.token === after.token ||
    (before.token.raw === after.token.raw && before.growing === after.growing),
);

function block(token: MarkedToken, growing: boolean, live: boolean): ComponentChildren {
  switch (token.type) {
    case 'paragraph':
      return <p dir="auto">{inlines(token.tokens, live)}</p>;
    case 'text':
      // a line of a tight list
      return (
        <>{token.tokens ? inlines(token.tokens, live) : words(decodeEntities(token.text), live)}</>
      );
    case 'heading':
      return heading(token.depth, inlines(token.tokens, live));
    case 'code':
      return <Code text={token.text} language={token.lang ?? ''} growing={growing} live={live} />;
    case 'blockquote':
      return <blockquote dir="auto">{blocks(token.tokens, live)}</blockquote>;
    case 'list': {
      // the list has one direction, by its first words: its marks have their room on that side
      const items = token.items.map((item, at) => (
        <li key={at} class={item.task ? 'task' : undefined}>
          {blocks(item.tokens, live)}
        </li>
      ));
      if (!token.ordered) return <ul dir="auto">{items}</ul>;
      return (
        <ol dir="auto" start={token.start === '' ? 1 : token.start}>
          {items}
        </ol>
      );
    }
    case 'checkbox':
      return <Tick done={token.checked} />;
    case 'table':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keys
        <section class="table" aria-label="Table" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {token.header.map((cell, at) => (
                  <th key={at} data-align={cell.align} dir="auto">
                    {inlines(cell.tokens, live)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {token.rows.map((cells, row) => (
                <tr key={row}>
                  {cells.map((cell, at) => (
                    <td key={at} data-align={cell.align} dir="auto">
                      {inlines(cell.tokens, live)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      );
    case 'hr':
      return <hr />;
    case 'space':
    case 'def':
      return null;
    case 'html':
      return (
        <p dir="auto" class="raw">
          {words(token.raw.trimEnd(), live)}
        </p>
      );
    default:
      return inline(token, live);
  }
}

function blocks(tokens: readonly Token[], live: boolean): ComponentChildren {
  return tokens.map((token, at) => <Block key={at} token={token} live={live} />);
}

/** Headings of a reply are below those of the page. */
function heading(depth: number, children: ComponentChildren): ComponentChildren {
  if (depth === 1) return <h3 dir="auto">{children}</h3>;
  if (depth === 2) return <h4 dir="auto">{children}</h4>;
  return <h5 dir="auto">{children}</h5>;
}

function Tick({ done }: { done: boolean }) {
  return <input type="checkbox" checked={done} disabled aria-label={done ? 'done' : 'to do'} />;
}

function words(text: string, live: boolean): ComponentChildren {
  return live ? <StreamingText text={text} /> : text;
}

function inlines(tokens: readonly Token[], live: boolean): ComponentChildren {
  return tokens.map((token, at) => (
    <Fragment key={at}>{inline(token as MarkedToken, live)}</Fragment>
  ));
}

function inline(token: MarkedToken, live: boolean): ComponentChildren {
  switch (token.type) {
    case 'text':
      return token.tokens ? inlines(token.tokens, live) : words(decodeEntities(token.text), live);
    case 'escape':
      return words(token.text, live);
    case 'strong':
      return <strong>{inlines(token.tokens, live)}</strong>;
    case 'em':
      return <em>{inlines(token.tokens, live)}</em>;
    case 'del':
      return <del>{inlines(token.tokens, live)}</del>;
    case 'codespan':
      return <code dir="auto">{words(token.text, live)}</code>;
    case 'br':
      return <br />;
    case 'checkbox':
      return <Tick done={token.checked} />;
    case 'link':
      return <Link href={decodeEntities(token.href)}>{inlines(token.tokens, live)}</Link>;
    case 'image':
      // loading an image of another server would reveal the reader to it, so it is a link
      return <Link href={decodeEntities(token.href)}>{words(token.text || 'image', live)}</Link>;
    default:
      return words(token.raw, live); // html and whatever comes: as it was written
  }
}

/** Only safe addresses become links. Others are shown as their text with the address. */
export function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const safe = safeHref(href);
  if (safe === null) {
    return (
      <span class="unlinked" title={stripControls(href)}>
        {children}
      </span>
    );
  }
  return (
    <a href={safe} title={safe} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}
