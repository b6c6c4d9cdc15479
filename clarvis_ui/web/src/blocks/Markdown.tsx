import type { MarkedToken, Token } from 'marked';
import { type ComponentChildren, Fragment } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { Code } from './Code';
import { GrowingMarkdown, lex, unescaped } from './lexer';
import { memo } from './memo';
import { plain, safeHref } from './safe';
import './markdown.css';

export interface MarkdownProps {
  text: string;
  /** The text is still being written: only its end is read again as it grows. */
  growing?: boolean;
}

/** Markdown as Claude writes it, as elements of our own. HTML in it stays text. */
export function Markdown({ text, growing = false }: MarkdownProps) {
  const reader = useRef<GrowingMarkdown | null>(null);
  const tokens = useMemo(() => {
    const clean = plain(text);
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

/** In parts: while a long text grows, only the last of them is compared and laid out again. */
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
          <Block key={at} token={token} growing={at === tokens.length - 1} />
        ))}
      </div>
    );
  },
  ({ tokens: one }, { tokens: other }) =>
    one.length === other.length && one.every((token, at) => token === other[at]),
);

interface BlockProps {
  token: Token;
  growing?: boolean;
}

/** Drawn again only if its own words changed, however long the text around it gets. */
const Block = memo(
  function Block({ token, growing = false }: BlockProps) {
    return block(token as MarkedToken, growing);
  },
  (before, after) =>
    before.token === after.token ||
    (before.token.raw === after.token.raw && before.growing === after.growing),
);

function block(token: MarkedToken, growing: boolean): ComponentChildren {
  switch (token.type) {
    case 'paragraph':
      return <p dir="auto">{inlines(token.tokens)}</p>;
    case 'text':
      // a line of a tight list
      return <>{token.tokens ? inlines(token.tokens) : unescaped(token.text)}</>;
    case 'heading':
      return heading(token.depth, inlines(token.tokens));
    case 'code':
      return <Code text={token.text} language={token.lang ?? ''} growing={growing} />;
    case 'blockquote':
      return <blockquote dir="auto">{blocks(token.tokens)}</blockquote>;
    case 'list': {
      // the list has one direction, by its first words: its marks have their room on that side
      const items = token.items.map((item, at) => (
        <li key={at} class={item.task ? 'task' : undefined}>
          {blocks(item.tokens)}
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
                    {inlines(cell.tokens)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {token.rows.map((cells, row) => (
                <tr key={row}>
                  {cells.map((cell, at) => (
                    <td key={at} data-align={cell.align} dir="auto">
                      {inlines(cell.tokens)}
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
          {token.raw.trimEnd()}
        </p>
      );
    default:
      return inline(token);
  }
}

function blocks(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token, at) => <Block key={at} token={token} />);
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

function inlines(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token, at) => <Fragment key={at}>{inline(token as MarkedToken)}</Fragment>);
}

function inline(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case 'text':
      return token.tokens ? inlines(token.tokens) : unescaped(token.text);
    case 'escape':
      return token.text;
    case 'strong':
      return <strong>{inlines(token.tokens)}</strong>;
    case 'em':
      return <em>{inlines(token.tokens)}</em>;
    case 'del':
      return <del>{inlines(token.tokens)}</del>;
    case 'codespan':
      return <code dir="auto">{token.text}</code>;
    case 'br':
      return <br />;
    case 'checkbox':
      return <Tick done={token.checked} />;
    case 'link':
      return <Link href={unescaped(token.href)}>{inlines(token.tokens)}</Link>;
    case 'image':
      // an image of another server would tell it who reads this: it is a link
      return <Link href={unescaped(token.href)}>{token.text || 'image'}</Link>;
    default:
      return token.raw; // html and whatever comes: as it was written
  }
}

/** Only harmless addresses are links; of the others the words are left, and the address is said. */
export function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const safe = safeHref(href);
  if (safe === null) {
    return (
      <span class="unlinked" title={plain(href)}>
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
