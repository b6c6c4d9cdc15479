// @vitest-environment happy-dom
import { render } from 'preact';
import { beforeEach, describe, expect, test } from 'vitest';
import { Markdown } from '../../src/content/Markdown';
import { GrowingMarkdown, lex } from '../../src/content/markdownTokens';

let root: HTMLElement;

beforeEach(() => {
  globalThis.IntersectionObserver = class {
    observe() {}
    disconnect() {}
  } as unknown as typeof IntersectionObserver;
  root = document.createElement('div');
});

function renderMarkdown(text: string): HTMLElement {
  render(<Markdown text={text} />, root);
  return root;
}

test('markdown becomes elements of our own', () => {
  renderMarkdown(
    '# Title\n\nSome **bold** `code` &lt;tag&gt;\n\n- [x] done\n- open\n\n| a | b |\n|-|-:|\n| 1 | 2 |',
  );
  expect(root.querySelector('h3')?.textContent).toBe('Title');
  expect(root.querySelector('p')?.textContent).toBe('Some bold code <tag>');
  expect(root.querySelector('strong')?.textContent).toBe('bold');
  expect(root.querySelectorAll('li')).toHaveLength(2);
  expect(root.querySelector('td[data-align=right]')?.textContent).toBe('2');
});

test('code keeps every character and says its language', () => {
  renderMarkdown('```ts title="a"\nconst a = "<b>" && \'&lt;\';\n```');
  expect(root.querySelector('pre')?.textContent).toBe('const a = "<b>" && \'&lt;\';');
  expect(root.querySelector('figcaption')?.textContent).toContain('ts');
});

test('each paragraph finds its own direction', () => {
  renderMarkdown('שלום\n\nhello');
  expect([...root.querySelectorAll('p')].map((each) => each.getAttribute('dir'))).toEqual([
    'auto',
    'auto',
  ]);
});

describe('hostile text', () => {
  const HOSTILE = [
    '<img src=x onerror="window.pwned=1">',
    'text <img src=x onerror=alert(1)> text',
    '<script>window.pwned=1</script>',
    '<svg onload=alert(1)><image href="http://evil.test/a.png"/></svg>',
    '<iframe srcdoc="<script>1</script>"></iframe>',
    '<a href="javascript:alert(1)">x</a>',
    '<style>@import url(http://evil.test/c.css)</style>',
    '![tracked](http://evil.test/b.png)',
    '![x](javascript:alert(1))',
    '[![nested](http://evil.test/b.png)](javascript:alert(1))',
    '[ref]: javascript:alert(1)\n\n[click][ref]',
    '<javascript:alert(1)>',
    '| <img src=x onerror=alert(1)> |\n|-|\n| <svg onload=alert(1)> |',
    '- <img src=x onerror=alert(1)>\n  > <script>1</script>',
    '```<img/src=x onerror=alert(1)>\n<script>1</script>\n```',
    '&lt;img src=x onerror=alert(1)&gt;',
    '\x1b]8;;javascript:alert(1)\x07x\x1b]8;;\x07',
  ];

  test.each(HOSTILE)('stays text: %j', (text) => {
    renderMarkdown(text);
    expect(
      root.querySelectorAll('img, script, svg image, iframe, style, object, embed'),
    ).toHaveLength(0);
    for (const element of root.querySelectorAll('*')) {
      for (const { name } of element.attributes) expect(name).not.toMatch(/^(on|style|srcdoc)/);
    }
    for (const link of root.querySelectorAll('a')) {
      expect(link.getAttribute('href')).toMatch(/^(https?|mailto):/);
      expect(link.getAttribute('rel')).toBe('noreferrer noopener');
      expect(link.getAttribute('target')).toBe('_blank');
    }
  });

  test('an image of another server is a link to it', () => {
    renderMarkdown('![a chart](http://other.test/b.png)');
    expect(root.querySelector('a')?.textContent).toBe('a chart');
    expect(root.querySelector('a')?.getAttribute('href')).toBe('http://other.test/b.png');
  });

  test.each(['>'.repeat(8000), '['.repeat(8000), `${'- '.repeat(1000)}x`, '*a'.repeat(2000)])(
    'nesting without end is shown somehow',
    (text) => {
      renderMarkdown(text);
      expect(root.textContent?.length).toBeGreaterThan(0);
    },
  );
});

describe('markdown that grows', () => {
  const text = [
    '# One',
    '',
    'A paragraph with **bold** words',
    'over two lines.',
    '',
    '- a list',
    '- of things',
    '',
    '  with a gap',
    '',
    '```py',
    'print("a")',
    '',
    'print("b")',
    '```',
    '',
    '| a | b |',
    '|---|---|',
    '| 1 | 2 |',
    '',
    'The end.',
  ].join('\n');

  test('is at every step what the whole would be', () => {
    const growing = new GrowingMarkdown();
    for (let end = 1; end <= text.length; end += 1) {
      const here = text.slice(0, end);
      const raws = growing.grow(here).map((token) => [token.type, token.raw]);
      expect(raws).toEqual(lex(here).map((token) => [token.type, token.raw]));
    }
  });

  test('starts anew with another text', () => {
    const growing = new GrowingMarkdown();
    growing.grow('one\n\ntwo\n\nthree\n\nfour');
    expect(growing.grow('other').map((token) => token.raw)).toEqual(['other']);
  });
});
