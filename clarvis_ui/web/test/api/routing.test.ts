import { expect, test } from 'vitest';
import { readRouting, readRoutings } from '../../src/api/routing';
import { destinationsOf } from '../../src/command/destinations';
import { createUndoSend } from '../../src/command/undoSend';
import { createBrowserStorage } from '../../src/lib/storage';

const RAW = {
  id: 'answer',
  action: 'resume',
  sessionId: 's',
  title: 'The till',
  confidence: 0.85,
  scorer: 'improved',
  reason: 'It says so.',
  candidates: [{ sessionId: 's', score: 0.85, leavesPlanFor: 'acceptEdits' }],
};

test('every way carries the answer by which it was offered, and whether planning ends', () => {
  const destinations = destinationsOf(readRouting(RAW), new Map(), '/code');
  expect(destinations).toMatchObject([
    { kind: 'resume', routing: 'answer', leavesPlanFor: 'acceptEdits' },
    { kind: 'new', routing: 'answer' },
  ]);
  const { id, ...older } = RAW;
  expect(id).toBe('answer');
  expect(destinationsOf(readRouting(older), new Map(), '/code')[1]).not.toHaveProperty('routing');
});

test('why messages are here is read, whatever else stands there', () => {
  const read = readRoutings({
    routings: [
      { uuid: 'u', routing: RAW, followed: false, leftPlanFor: 'default' },
      { uuid: 'v' },
      null,
      { uuid: 'w', routing: { action: 'new' } },
    ],
  });
  expect(read).toMatchObject([
    { uuid: 'u', followed: false, leftPlanFor: 'default', routing: { confidence: 0.85 } },
    { uuid: 'w', followed: true, leftPlanFor: null, routing: { action: 'new', candidates: [] } },
  ]);
  expect(readRoutings('rubbish')).toEqual([]);
});

test('a message that is held back is sent by the same answer', async () => {
  const sent: unknown[] = [];
  const undoSend = createUndoSend({
    storage: createBrowserStorage(null),
    onSent: () => {},
    async deliver(delivery) {
      sent.push(delivery);
      return { ok: true, value: 's' };
    },
  });
  undoSend.begin('Now implement it', { ...destination(), routing: 'answer' }, false);
  undoSend.sendAll();
  undoSend.begin('by itself', destination(), false);
  undoSend.sendAll();
  expect(sent).toMatchObject([{ routing: 'answer' }, { text: 'by itself' }]);
  expect(sent[1]).not.toHaveProperty('routing');
});

const destination = () => ({ kind: 'new' as const, workdir: '/code', because: null });
