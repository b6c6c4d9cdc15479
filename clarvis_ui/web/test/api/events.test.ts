import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Fields } from '../../src/api/decode';
import { EVENT_TYPES, type Frame, readFrame, readPosition } from '../../src/api/events';

const FILE = new URL('../../../../tests/contract/golden_frames.json', import.meta.url);
const FRAMES: Fields[] = JSON.parse(readFileSync(FILE, 'utf-8')).server;
const events = FRAMES.filter(({ type }) => EVENT_TYPES.some((known) => known === type));
const others = FRAMES.filter((frame) => !events.includes(frame));

/** Where the page has an event in another shape than the keeper, or only a part of it. */
const RESHAPED: Record<string, (fields: Fields) => object> = {
  'message/added': ({ message, after }) => ({
    message: {
      ...(message as object),
      usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
    },
    after,
  }),
  'session/notified': ({ event, text, reason }) => ({ event, text, reason }),
  'turn/status': (status) => ({ status }),
  'turn/finished': ({ uuid, outcome, costUsd, durationMs }) => ({
    ...{ uuid, outcome, costUsd, durationMs },
    error: 'Claude Code ended unexpectedly.',
  }),
};

test('every type of event that the page reads has an example', () => {
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(EVENT_TYPES));
});

test.each(events.map((frame) => [frame.type, frame] as const))(
  '%s is read as it was sent',
  (type, frame) => {
    const { position, sessionId, type: _, ...fields } = frame;
    const stamp = { type, position: readPosition(position), sessionId };
    expect(stamp.position?.epoch).toBe('0a1b2c3d');
    const sent = { ...stamp, ...(RESHAPED[type as string]?.(fields) ?? fields) };
    const decoded = readFrame(JSON.stringify(frame)) as Frame & { type: 'event' };
    // the page has no more than what was sent, and of the event itself all of it
    expect(sent).toMatchObject(decoded.event);
    expect(Object.keys(decoded.event).sort()).toEqual(Object.keys(sent).sort());
  },
);

test('every other frame is read, or skipped', () => {
  const decoded = others.map((frame) => [frame.type, readFrame(JSON.stringify(frame))]);
  const sessionId = '5e551011-0000-4000-8000-000000000001';
  expect(decoded).toEqual([
    ['hello', { type: 'hello', position: { epoch: '0a1b2c3d', seq: 0 } }],
    ['subscribed', { type: 'subscribed' }],
    ['resync', { type: 'resync', sessionId: null }],
    ['pong', { type: 'pong' }],
    ['error', null],
    ['resync', { type: 'resync', sessionId }],
    ['conversation/updated', null],
  ]);
});

test.each(events.map((frame) => [frame.type, frame] as const))(
  '%s of another version is read or skipped, never thrown',
  (type, frame) => {
    const { type: _, ...rest } = frame;
    for (const raw of [
      { type },
      { ...frame, news: {} },
      ...Object.keys(rest).map((name) => ({ ...frame, [name]: 7 })),
    ]) {
      const decoded = readFrame(JSON.stringify(raw));
      expect(decoded === null || decoded.type === 'event').toBe(true);
    }
  },
);

test.each([['nonsense'], ['[]'], ['7'], ['{}'], ['{"type":"news"}'], ['{"type":"constructor"}']])(
  '%s is skipped',
  (data) => {
    expect(readFrame(data)).toBe(null);
  },
);
