import { expect, test } from 'vitest';
import {
  ARCHIVE_HREF,
  INBOX_HREF,
  parseRoute,
  searchHref,
  sessionHref,
  timelineHref,
  withoutLogin,
} from '../../src/app/routes';

test.each([
  ['', null, null],
  ['#', null, null],
  ['#session=abc', 'abc', null],
  ['#login=AAAA-BBBB', null, 'AAAA-BBBB'],
  ['#login=AAAA&session=abc', 'abc', 'AAAA'],
  ['#session=abc&login=AAAA', 'abc', 'AAAA'],
  ['#session=', null, null],
  ['#session=a%20b', 'a b', null],
  ['#nonsense&&=', null, null],
  ['#session=%', '%', null],
])('%j', (fragment, session, login) => {
  expect(parseRoute(fragment)).toMatchObject({ session, login, inbox: false });
});

test('what waits has an address of its own', () => {
  expect(parseRoute(INBOX_HREF)).toEqual({
    session: null,
    login: null,
    inbox: true,
    archive: false,
    usage: false,
    search: null,
    timeline: null,
    branches: null,
  });
  expect(parseRoute(ARCHIVE_HREF)).toMatchObject({ inbox: false, archive: true });
});

test.each([
  ['#login=AAAA', ''],
  ['#login=AAAA&session=abc', '#session=abc'],
  ['#session=abc&login=AAAA&find=x%20y', '#session=abc&find=x%20y'],
  ['#session=abc', '#session=abc'],
])('%j without its code', (fragment, rest) => {
  expect(withoutLogin(fragment)).toBe(rest);
});

test('a session leads back to itself', () => {
  expect(parseRoute(sessionHref('a/b&login=x')).session).toBe('a/b&login=x');
  expect(parseRoute(sessionHref('a/b&login=x')).login).toBe(null);
});

test('what is looked for stands in the address, and comes back out of it', () => {
  const wanted = {
    words: '"a & b" src/x.ts',
    kind: 'prompt',
    workdir: '/a b',
    best: true,
  } as const;
  expect(parseRoute(searchHref(wanted)).search).toEqual(wanted);
  expect(parseRoute(searchHref()).search).toEqual({
    words: '',
    kind: null,
    workdir: null,
    best: false,
  });
  expect(parseRoute('#search=x&kind=nonsense').search?.kind).toBeNull();
  expect(parseRoute('#session=abc').search).toBeNull();
});

test('what is looked at in a timeline stands in the address, and comes back out of it', () => {
  const span = { from: '2026-03-01T10', to: '2026-03-01T11' };
  const ofSession = { session: 'abc', workdir: null, span };
  expect(parseRoute(timelineHref(ofSession))).toMatchObject({
    session: null,
    timeline: ofSession,
  });
  const ofProject = { session: null, workdir: '/a b&c', span: null };
  expect(parseRoute(timelineHref(ofProject)).timeline).toEqual(ofProject);
  const everything = { session: null, workdir: null, span: null };
  expect(parseRoute(timelineHref()).timeline).toEqual(everything);
});

test.each([
  'from=2026-03-01',
  'from=yesterday&to=today',
  'from=2026-13-01&to=2026-14-01',
  'from=2026-03-02&to=2026-03-01',
])('a timeline at %s is shown as a whole', (span) => {
  expect(parseRoute(`#timeline&${span}`).timeline?.span).toBeNull();
});
