import { beforeEach, expect, test, vi } from 'vitest';
import { createAppStore } from '../../src/app/store';
import { createBrowserStorage } from '../../src/lib/storage';
import { FakeApi, FakeAttention, FakeStorage } from '../support/fakes';
import { sample } from '../support/samples';

let api: FakeApi;

beforeEach(() => {
  api = new FakeApi();
  api.rows = [sample(1)];
  api.answers.attention = [];
});

test('any request that finds us logged out shuts the page, and what it knew is forgotten', async () => {
  const closed = vi.fn();
  const app = createAppStore({
    api,
    storage: createBrowserStorage(new FakeStorage()),
    page: new FakeAttention(),
    openSocket: () => ({ close: closed, send: () => {} }) as unknown as WebSocket,
    name: 'me',
  });
  await app.auth.start(null);
  await vi.waitFor(() => expect(app.sessions.listing.value.complete).toBe(true));

  api.trouble = 'not_logged_in';
  expect((await app.sessions.rename('id-0001', 'Mine')).ok).toBe(false);
  expect(app.auth.state.value).toBe('loggedOut');
  expect(app.sessions.listing.value.sessions.size).toBe(0);
  expect(closed).toHaveBeenCalled();
});
