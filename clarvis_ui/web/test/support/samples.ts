import type { Session } from '../../src/api/sessions';

/** A session for tests: the higher its number, the newer it is. */
export function sample(number: number, changes: Partial<Session> = {}): Session {
  return {
    id: `id-${String(number).padStart(4, '0')}`,
    workdir: '/code/payments-api',
    project: 'payments-api',
    name: null,
    title: `Title ${number}`,
    firstPrompt: `first of ${number}`,
    lastPrompt: `last of ${number}`,
    messageCount: number,
    created: '2025-10-01T08:00:00Z',
    modified: new Date(Date.UTC(2025, 9, 1) + number * 60_000).toISOString(),
    gitBranch: 'main',
    size: 1000,
    model: 'claude-opus-5-5',
    permissionMode: null,
    state: 'idle',
    origin: null,
    attention: 0,
    costUsd: 0.42,
    tokens: null,
    error: null,
    presence: null,
    archived: false,
    archivedSince: null,
    unreadable: 0,
    item: null,
    systemPrompt: null,
    progress: null,
    givenUp: null,
    ...changes,
  };
}
