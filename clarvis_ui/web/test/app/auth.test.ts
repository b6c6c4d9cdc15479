import { beforeEach, describe, expect, test } from 'vitest';
import { type Auth, createAuth } from '../../src/app/auth';
import { FakeApi } from '../support/fakes';

let api: FakeApi;
let auth: Auth;

beforeEach(() => {
  api = new FakeApi();
  auth = createAuth(api);
});

describe('arriving', () => {
  test('with a good code', async () => {
    api.trouble = 'not_logged_in';
    await auth.start('GOOD');
    expect(auth.state.value).toBe('loggedIn');
  });

  test('with an old code, a stranger is told', async () => {
    api.trouble = 'not_logged_in';
    await auth.start('OLD');
    expect(auth.state.value).toBe('loggedOut');
    expect(auth.failure.value?.code).toBe('wrong_code');
  });

  test('with an old code, who is in stays in', async () => {
    await auth.start('OLD');
    expect(auth.state.value).toBe('loggedIn');
    expect(auth.failure.value).toBe(null);
  });

  test('without a code, a stranger finds it shut', async () => {
    api.trouble = 'not_logged_in';
    await auth.start(null);
    expect(auth.state.value).toBe('loggedOut');
    expect(auth.failure.value).toBe(null);
  });

  test('while the keeper is away, the page is shown', async () => {
    api.trouble = 'keeper_unreachable';
    await auth.start(null);
    expect(auth.state.value).toBe('loggedIn');
  });
});

test('what was answered on arrival is for the first who asks', async () => {
  await auth.start(null);
  expect(auth.takeHealth()?.ok).toBe(true);
  expect(auth.takeHealth()).toBe(null);
});

test('a second code may be the right one', async () => {
  api.trouble = 'not_logged_in';
  await auth.start('OLD');
  await auth.logIn('GOOD');
  expect(auth.state.value).toBe('loggedIn');
  expect(auth.failure.value).toBe(null);
});

test('leaving shuts it, but not where nobody heard', async () => {
  await auth.start(null);
  api.trouble = 'clarvis_unreachable';
  await auth.logOut();
  expect(auth.state.value).toBe('loggedIn');
  api.trouble = null;
  await auth.logOut();
  expect(auth.state.value).toBe('loggedOut');
});

describe('a door that is shut', () => {
  beforeEach(async () => {
    api.trouble = 'not_logged_in';
    await auth.start(null);
  });

  test('opens for who is let in by now', async () => {
    expect(await auth.check()).toBe(true);
    expect(auth.state.value).toBe('loggedOut');
    api.trouble = null;
    await auth.check();
    expect(auth.state.value).toBe('loggedIn');
  });

  test('opens where the keeper refuses, which only those inside are told', async () => {
    api.trouble = 'keeper_refused';
    await auth.check();
    expect(auth.state.value).toBe('loggedIn');
  });

  test('stays shut where nobody says anything about it', async () => {
    api.trouble = 'clarvis_unreachable';
    expect(await auth.check()).toBe(false);
    expect(auth.state.value).toBe('loggedOut');
  });
});

describe('a doubt', () => {
  test('shuts the door only if the server says so', async () => {
    await auth.start(null);
    api.trouble = 'keeper_refused';
    await auth.verify();
    expect(auth.state.value).toBe('loggedIn');
    api.trouble = 'not_logged_in';
    await auth.verify();
    expect(auth.state.value).toBe('loggedOut');
  });
});
