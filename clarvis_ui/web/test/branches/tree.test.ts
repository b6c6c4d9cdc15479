import { describe, expect, test } from 'vitest';
import {
  type BranchWork,
  comparedQuery,
  type FileChange,
  readBranches,
  readBranchWork,
  readFamily,
} from '../../src/api/branches';
import { branchesHref, comparedHref, parseRoute } from '../../src/app/routes';
import { carryOverPrompt, patchOf, withCarryOver } from '../../src/branches/carryOverPrompt';
import {
  allNodes,
  changesIn,
  chosenWith,
  didNothing,
  differenceOf,
  familyChangeKey,
  pairedFiles,
  suggested,
  treeOf,
} from '../../src/branches/tree';

const FAMILY = readFamily({
  sessions: [
    { sessionId: 'root', title: 'Build a shop', messages: 8, modified: '2026-03-01' },
    {
      sessionId: 'fork',
      title: 'Build a shop (fork)',
      parent: 'root',
      at: 'm2',
      shared: 2,
      messages: 4,
      modified: '2026-03-03',
      firstPrompt: 'and a door',
    },
    { sessionId: 'deep', parent: 'fork', at: 'm9', modified: '2026-03-04' },
    { title: 'nameless' },
  ],
  complete: true,
});
const INSIDE = readBranches({
  branches: [
    { tip: null, messages: 8, lastWords: 'It is blue.' },
    { tip: 'red', at: 'm2', messages: 4, firstPrompt: 'red, please', ended: '2026-02-01' },
    { tip: 'pink', leaves: 'red', at: 'm3', messages: 2, ended: '2026-02-02' },
    { tip: 'lost', leaves: 'unknown', at: 'm4', messages: 1, ended: '2026-02-03' },
  ],
});

function file(path: string, more: Partial<FileChange> = {}): FileChange {
  return {
    path,
    fate: 'changed',
    edits: 1,
    before: null,
    after: null,
    pieces: [],
    cut: false,
    ...more,
  };
}

function work(more: Partial<BranchWork> = {}): BranchWork {
  return {
    prompts: [],
    decisions: [],
    files: [],
    moreFiles: 0,
    commands: 0,
    lastReply: null,
    ...more,
  };
}

describe('the address', () => {
  const compared = {
    one: { session: 'a', tip: null },
    other: { session: 'b', tip: 'x/y&z' },
  };

  test('brings back the tree and the same two', () => {
    expect(parseRoute(branchesHref('a b'))).toMatchObject({ session: 'a b', branches: 'tree' });
    expect(parseRoute(comparedHref(compared)).branches).toEqual(compared);
    const swapped = { one: compared.other, other: compared.one };
    expect(parseRoute(comparedHref(swapped)).branches).toEqual(swapped);
    expect(parseRoute('#session=a').branches).toBeNull();
    expect(parseRoute('#branches&with=b').branches).toBeNull();
  });

  test('asks the keeper for one beside the other', () => {
    expect(comparedQuery(compared.one, compared.other)).toBe('with=b&withTip=x%2Fy%26z');
    expect(comparedQuery(compared.other, compared.one, { limit: '5' })).toBe(
      'with=a&tip=x%2Fy%26z&limit=5',
    );
  });
});

describe('the tree', () => {
  const nodes = treeOf('root', FAMILY as never, INSIDE);

  test('has forks below what they leave, and what was left in the open session', () => {
    expect(nodes.map((node) => node.key)).toEqual(['root']);
    expect(nodes[0]?.children.map((node) => node.key)).toEqual(['root/red', 'root/lost', 'fork']);
    expect(allNodes(nodes).map((node) => [node.key, node.kind])).toEqual([
      ['root', 'now'],
      ['root/red', 'left'],
      ['root/pink', 'left'],
      ['root/lost', 'left'],
      ['fork', 'session'],
      ['deep', 'session'],
    ]);
  });

  test('says where each leaves', () => {
    const at = Object.fromEntries(allNodes(nodes).map((node) => [node.key, node.at?.message]));
    expect(at).toMatchObject({ 'root/red': 'm2', fork: 'm2', deep: 'm9' });
    expect(nodes[0]).toMatchObject({ at: null, last: 'It is blue.', messages: 8 });
  });

  test('has what was forked on a path that was left below that path', () => {
    const inside = readBranches({
      branches: INSIDE?.branches,
      holders: { m2: 'red', m9: null },
    });
    const [root] = treeOf('root', FAMILY as never, inside);
    expect(root?.children.find(({ key }) => key === 'root/red')?.children.at(-1)?.key).toBe('fork');
  });

  test('a fork whose parent is not there stands for itself', () => {
    const alone = treeOf(
      'fork',
      { sessions: FAMILY?.sessions.slice(1) ?? [], complete: true },
      null,
    );
    expect(alone.map((node) => node.key)).toEqual(['fork']);
  });

  test('two are chosen at a time', () => {
    expect(suggested(nodes)).toEqual(['root', 'fork']);
    expect(suggested(treeOf('deep', FAMILY as never, null))).toEqual(['deep', 'fork']);
    expect(chosenWith(['a', 'b'], 'c')).toEqual(['b', 'c']);
    expect(chosenWith(['a', 'b'], 'a')).toEqual(['b']);
  });
});

describe('files', () => {
  const red = file('/s/paint.py', { before: 'GREY\n', after: 'RED\n' });
  const blue = file('/s/paint.py', { before: 'GREY\n', after: 'BLUE\n' });

  test('are in one, in the other, in both, or the same', () => {
    const pairs = pairedFiles(
      [file('/s/b', { after: 'x' }), red, file('/s/a', { after: 'x' })],
      [file('/s/c'), blue, file('/s/b', { after: 'x', fate: 'created' })],
    );
    expect(pairs.map(({ path, where }) => [path, where])).toEqual([
      ['/s/paint.py', 'both'],
      ['/s/a', 'one'],
      ['/s/c', 'other'],
      ['/s/b', 'same'],
    ]);
  });

  test('that are deleted in both are the same; in one they are not', () => {
    const gone = file('/s/a', { fate: 'deleted', before: 'x' });
    expect(pairedFiles([gone], [gone])[0]?.where).toBe('same');
    const [pair] = pairedFiles([file('/s/a', { before: 'x', after: 'y' })], [gone]);
    expect(pair && differenceOf(pair)).toEqual({ before: '', after: 'y' });
  });

  test('differ from how the other has them', () => {
    const [pair] = pairedFiles([red], [blue]);
    expect(pair && differenceOf(pair)).toEqual({ before: 'BLUE\n', after: 'RED\n' });
  });

  test('are told by their edits where the whole is not known', () => {
    const pieces = [{ before: 'a', after: 'b' }];
    const [pair] = pairedFiles([file('/s/a', { pieces })], [blue, file('/s/a', { after: 'z' })]);
    expect(pair && differenceOf(pair)).toBeNull();
    expect(changesIn(file('/s/a', { pieces }))).toEqual(pieces);
    expect(changesIn(file('/s/a', { after: 'new', fate: 'created' }))).toEqual([
      { before: '', after: 'new' },
    ]);
    expect(pairedFiles([file('/s/a', { pieces })], [file('/s/a', { pieces })])[0]?.where).toBe(
      'same',
    );
    expect(changesIn(file('/s/a', { cut: true }))).toEqual([]);
  });
});

describe('bringing a decision over', () => {
  const from = work({
    prompts: ['red,\n please'],
    decisions: [
      { kind: 'answer', about: 'Which colour?', decision: 'red', reason: 'it is warm' },
      { kind: 'answer', about: 'Doors?', decision: 'two', reason: null },
    ],
    files: [
      file('/s/paint.py', { before: 'GREY\n', after: 'RED\n' }),
      file('/s/old.py', { fate: 'deleted', before: 'x' }),
      file('/s/same.py', { after: 'x' }),
    ],
    lastReply: 'It is red.\nAll of it.',
  });
  const into = work({
    decisions: [{ kind: 'answer', about: 'Doors?', decision: 'two', reason: null }],
    files: [
      file('/s/paint.py', { before: 'GREY\n', after: 'BLUE\n' }),
      file('/s/same.py', { after: 'x' }),
      file('/s/sky.py', { after: 'sky' }),
    ],
  });
  const prompt = carryOverPrompt({ title: 'red way', from, into, workdir: '/s' });

  test('says what was asked, decided and changed there, and nothing that both have', () => {
    expect(prompt).toContain('“red way”');
    expect(prompt).toContain('- red, please');
    expect(prompt).toContain('- Which colour?: red (it is warm)');
    expect(prompt).not.toContain('Doors?');
    expect(prompt).toContain('> It is red.\n> All of it.');
    expect(prompt).toContain('- `paint.py`: changed in both');
    expect(prompt).toContain('```diff\n-BLUE\n+RED\n```');
    expect(prompt).toContain('- `old.py`: deleted there');
    expect(prompt).not.toContain('same.py');
    expect(prompt).not.toContain('sky.py');
  });

  test('keeps to its length, and a fence that nothing inside closes', () => {
    const long = file('/s/long.py', { fate: 'created', after: 'x\n'.repeat(20_000) });
    const ticks = file('/s/t.md', { fate: 'created', after: '````\n' });
    const prompt = carryOverPrompt({
      title: 'long '.repeat(1_000),
      from: work({ files: [long, ticks], moreFiles: 3, lastReply: 'y'.repeat(9_000) }),
      into: work(),
      workdir: null,
    });
    expect(prompt.length).toBeLessThan(4_000);
    expect(prompt).toContain('- `/s/long.py`: new there');
    expect(prompt).toContain('`````diff\n+````\n`````');
    expect(prompt).toContain('- and 3 more');
  });

  test('hides nothing from whoever sends it', () => {
    const hidden = work({ lastReply: 'fine\u{e0041}\u202e' });
    const prompt = carryOverPrompt({ title: 't', from: hidden, into: work(), workdir: null });
    expect(prompt).toContain('> fine⟨U+E0041⟩⟨U+202E⟩');
  });

  test('goes after what is typed already, and not twice', () => {
    expect(withCarryOver('', 'p')).toBe('p');
    expect(withCarryOver('mine ', 'p')).toBe('mine\n\np');
    expect(withCarryOver('mine\n\np', 'p')).toBe('mine\n\np');
  });

  test('is offered only where there is something', () => {
    expect(didNothing(work())).toBe(true);
    expect(didNothing(from)).toBe(false);
    expect(didNothing(readBranchWork({ lastReply: 'x' }) as BranchWork)).toBe(false);
  });

  test('a long stretch that stays the same is left out of a difference', () => {
    const same = Array.from({ length: 40 }, (_, at) => `${at}`).join('\n');
    expect(patchOf({ before: `${same}\na`, after: `${same}\nb` })).toBe('…\n 37\n 38\n 39\n-a\n+b');
  });
});

test('the tree is looked at again when one of the family went on, or there is a new session', () => {
  const at = (modified: string) => ({ modified, messageCount: 3 });
  const sessions = new Map([
    ['root', at('a')],
    ['fork', at('b')],
    ['stranger', at('c')],
  ]);
  const before = familyChangeKey('root', FAMILY, sessions);
  expect(familyChangeKey('root', FAMILY, new Map([...sessions, ['stranger', at('d')]]))).toBe(
    before,
  );
  expect(familyChangeKey('root', FAMILY, new Map([...sessions, ['fork', at('d')]]))).not.toBe(
    before,
  );
  expect(familyChangeKey('root', FAMILY, new Map([...sessions, ['new', at('d')]]))).not.toBe(
    before,
  );
});
