import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createApi } from '../../src/api/client';
import { sample } from '../support/samples';

function answering(body: unknown, status = 200) {
  const fetcher = vi.fn(
    async (_path: RequestInfo | URL, _init?: RequestInit) =>
      new Response(typeof body === 'string' ? body : JSON.stringify(body), { status }),
  );
  return { api: createApi(fetcher as typeof fetch), fetcher };
}

test('a page is asked for with its cursor', async () => {
  const { api, fetcher } = answering({ sessions: [sample(1)], cursor: 'next' });
  const outcome = await api.sessions('a&b');
  expect(outcome).toMatchObject({ ok: true, value: { cursor: 'next' } });
  expect(fetcher.mock.calls[0]?.[0]).toBe('/api/sessions?limit=200&cursor=a%26b');
});

test('a stream that could not go on says why in its last line', async () => {
  const error = { code: 'transcript_unreadable', message: 'The transcript was changed.' };
  const { api } = answering(`{"messages":[{"uuid":"a"}\n${JSON.stringify({ error })}\n`);
  expect(await api.conversation('s', null, 'all')).toEqual({
    ok: false,
    failure: { code: error.code, sentence: error.message },
  });
});

test('what was open when the keeper ended is read from the session', async () => {
  const question = { id: 'q', sessionId: 's', tool: 'Bash', input: {}, kind: 'permission' };
  const { api, fetcher } = answering({ messages: [], interrupted: { questions: [question] } });
  const outcome = await api.interruptedTurn('s');
  expect(outcome).toMatchObject({
    ok: true,
    value: { questions: [{ id: 'q', tool: 'Bash' }], prompts: [], queuedUuids: [], begun: true },
  });
  expect(fetcher.mock.calls[0]?.[0]).toBe('/api/sessions/s?limit=1');
  expect(await answering({ messages: [], interrupted: null }).api.interruptedTurn('s')).toEqual({
    ok: true,
    value: { questions: [], prompts: [], queuedUuids: [], begun: true },
  });
});

test('what was said to a turn that was cut off is read, in words', async () => {
  const image = { type: 'image', source: {} };
  const content = [{ type: 'text', text: 'look' }, image, { type: 'text', text: 'here' }];
  const cases = [
    [{ prompt: { uuid: 'u', content: 'go' } }, [{ uuid: 'u', text: 'go' }], false],
    [{ prompt: { uuid: 'u', content } }, [{ uuid: 'u', text: 'look\nhere' }], false],
    // Claude had begun with another, and this one waited
    [
      { prompt: null, queue: [{ uuid: 'w', content: 'wait' }] },
      [{ uuid: 'w', text: 'wait' }],
      true,
    ],
    // it had not come to its turn yet
    [{ begun: false, queue: [{ uuid: 'w', content: [] }] }, [{ uuid: 'w', text: '' }], false],
    [{ prompt: 'odd', queue: {} }, [], true],
    // what is held waits for a person
    [{ queue: [{ uuid: 'h', content: 'held', held: true }] }, [], true],
  ] as const;
  for (const [interrupted, prompts, begun] of cases) {
    const outcome = await answering({ messages: [], interrupted }).api.interruptedTurn('s');
    expect(outcome).toMatchObject({ ok: true, value: { prompts, begun } });
  }
});

test('a message goes out even if the page is left, where the browser can keep it', async () => {
  const { api, fetcher } = answering({ sessionId: 's', state: 'running' });
  const text = (words: string) => ({ content: [{ type: 'text', text: words }], uuid: 'u' });
  await api.send(text('x'.repeat(50_000)));
  // as many signs, three times as many bytes: the browser would refuse the request altogether
  await api.send(text('語'.repeat(50_000)));
  expect(fetcher.mock.calls.map(([, init]) => init?.keepalive)).toEqual([true, undefined]);
});

test('who stops a turn has what waits held', async () => {
  const { api, fetcher } = answering({ interrupted: true, held: 2 });
  expect(await api.interrupt('s')).toMatchObject({ ok: true });
  expect(fetcher.mock.calls[0]).toMatchObject([
    '/api/sessions/s/interrupt',
    { body: '{"hold":true}' },
  ]);
});

test('a rename says what it is', async () => {
  const { api, fetcher } = answering(sample(1, { name: 'New' }));
  await api.rename('a/b', null);
  const [path, init] = fetcher.mock.calls[0] ?? [];
  expect(path).toBe('/api/sessions/a%2Fb');
  expect(init).toMatchObject({
    method: 'PATCH',
    body: '{"name":null}',
    headers: { 'Content-Type': 'application/json' },
  });
});

describe('failures are values', () => {
  test('a refusal has the code and the sentence of the server', async () => {
    const refusal = { error: { code: 'session_not_found', message: 'There is none.' } };
    const outcome = await answering(refusal, 404).api.health();
    expect(outcome).toEqual({
      ok: false,
      failure: { code: 'session_not_found', sentence: 'There is none.' },
    });
  });

  test.each([
    ['<html>', 200],
    ['<html>', 502],
    ['[]', 200],
  ])('%j with status %d is not understood', async (body, status) => {
    const outcome = await answering(body, status).api.sessions(null);
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'not_understood' } });
  });

  test('no answer at all', async () => {
    const api = createApi(() => Promise.reject(new TypeError('Failed to fetch')));
    expect(await api.logIn('x')).toMatchObject({
      ok: false,
      failure: { code: 'clarvis_unreachable' },
    });
  });

  test('one that was no longer wanted', async () => {
    const api = createApi(() => Promise.reject(new DOMException('', 'AbortError')));
    const outcome = await api.health(AbortSignal.abort());
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'cancelled' } });
  });
});

describe('on a slow line', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    // the browser's own deadlines go by the same clock
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const over = new AbortController();
      setTimeout(() => over.abort(), ms);
      return over.signal;
    });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  /** An answer that comes in pieces, so many seconds apart; it ends with the request. */
  function dripping(pieces: readonly string[], seconds: number) {
    const encoder = new TextEncoder();
    const fetcher = async (_path: RequestInfo | URL, init?: RequestInit) =>
      new Response(
        new ReadableStream({
          async start(line) {
            init?.signal?.addEventListener('abort', () => line.error(new Error('given up')));
            for (const piece of pieces) {
              await new Promise((come) => setTimeout(come, seconds * 1000));
              if (init?.signal?.aborted) return;
              line.enqueue(encoder.encode(piece));
            }
            line.close();
          },
        }),
      );
    return createApi(fetcher as typeof fetch);
  }

  test('an answer that keeps coming is waited for, however long it takes', async () => {
    const pieces = JSON.stringify({ sessions: [sample(1)], cursor: null }).split(/(?=,)/);
    const outcome = dripping(pieces, 15).sessions(null);
    await vi.advanceTimersByTimeAsync(pieces.length * 15_000);
    expect(await outcome).toMatchObject({ ok: true });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('one that falls silent is given up', async () => {
    const outcome = dripping(['{"sessions":', '[]}'], 25).sessions(null);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await outcome).toMatchObject({ ok: false, failure: { code: 'clarvis_unreachable' } });
  });

  test('a message with images has the time that they take', async () => {
    const accepted = JSON.stringify({ sessionId: 's', uuid: 'u', state: 'running' });
    const content = [{ type: 'text', text: 'x'.repeat(2_000_000) }];
    const outcome = dripping([accepted], 60).send({ sessionId: 's', content, uuid: 'u' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await outcome).toMatchObject({ ok: true });
  });
});
