import { expect, test, vi } from 'vitest';
import { createLatestRequest, createRequests } from '../../src/api/request';

const answering = (status: number, body: object) =>
  createRequests(async () => new Response(JSON.stringify(body), { status }));
const error = (code: string) => ({ error: { code, message: 'No.' } });
const read = (raw: unknown) => raw;

test('whoever wants to know is told of every answer that we are logged out', async () => {
  const listener = vi.fn();
  const requests = answering(401, error('not_logged_in'));
  const undo = requests.onLoggedOut(listener);
  await requests.send('GET', '/api/health', read);
  await requests.send('POST', '/api/send', read);
  expect(listener).toHaveBeenCalledTimes(2);
  undo();
  await requests.send('GET', '/api/health', read);
  expect(listener).toHaveBeenCalledTimes(2);
});

test('no other refusal logs us out', async () => {
  const listener = vi.fn();
  const requests = answering(401, error('wrong_code'));
  requests.onLoggedOut(listener);
  await requests.send('POST', '/login', read);
  expect(listener).not.toHaveBeenCalled();
});

test('of requests of one kind the latest counts, whichever answer comes first', async () => {
  const latest = createLatestRequest();
  const signals: AbortSignal[] = [];
  let answerFirst = (_: string) => {};
  const first = latest.send((signal) => {
    signals.push(signal);
    return new Promise<string>((resolve) => {
      answerFirst = resolve;
    });
  });
  const second = latest.send(async () => 'second');
  expect(signals[0]?.aborted).toBe(true);
  expect(await second).toBe('second');
  answerFirst('first');
  expect(await first).toBeNull();
  expect(latest.isRunning).toBe(false);
});

test('one that is stopped answers nothing', async () => {
  const latest = createLatestRequest();
  const request = latest.send(async () => 'late');
  expect(latest.isRunning).toBe(true);
  latest.stop();
  expect(await request).toBeNull();
});
