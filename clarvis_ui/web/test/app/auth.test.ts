import { beforeEach, describe, expect, test } from 'vitest';
import { type Auth, createAuth } from '../../src/app/auth';
import { FakeApi } from '../support/fakes';

let api: FakeApi;
let door: Auth;

beforeEach(() => {
  api = new FakeApi();
  door = createAuth(api);
});

describe('arriving', () => {
  test('with a good code', async () => {
    api.trouble = 'not_logged_in';
    await door.start('GOOD');
    expect(door.state.value).toBe('open');
  });

  test('with an old code, a stranger is told', async () => {
    api.trouble = 'not_logged_in';
    await door.start('OLD');
    expect(door.state.value).toBe('shut');
    expect(door.failure.value?.code).toBe('wrong_code');
  });

  test('with an old code, who is in stays in', async () => {
    await door.start('OLD');
    expect(door.state.value).toBe('open');
    expect(door.failure.value).toBe(null);
  });

  test('without a code, a stranger finds it shut', async () => {
    api.trouble = 'not_logged_in';
    await door.start(null);
    expect(door.state.value).toBe('shut');
    expect(door.failure.value).toBe(null);
  });

  test('while the keeper is away, the page is shown', async () => {
    api.trouble = 'keeper_unreachable';
    await door.start(null);
    expect(door.state.value).toBe('open');
  });
});

test('what was answered on arrival is for the first who asks', async () => {
  await door.start(null);
  expect(door.takeHealth()?.ok).toBe(true);
  expect(door.takeHealth()).toBe(null);
});

test('a second code may be the right one', async () => {
  api.trouble = 'not_logged_in';
  await door.start('OLD');
  await door.logIn('GOOD');
  expect(door.state.value).toBe('open');
  expect(door.failure.value).toBe(null);
});

test('leaving shuts it, but not where nobody heard', async () => {
  await door.start(null);
  api.trouble = 'clarvis_unreachable';
  await door.logOut();
  expect(door.state.value).toBe('open');
  api.trouble = null;
  await door.logOut();
  expect(door.state.value).toBe('shut');
});

describe('a door that is shut', () => {
  beforeEach(async () => {
    api.trouble = 'not_logged_in';
    await door.start(null);
  });

  test('opens for who is let in by now', async () => {
    expect(await door.check()).toBe(true);
    expect(door.state.value).toBe('shut');
    api.trouble = null;
    await door.check();
    expect(door.state.value).toBe('open');
  });

  test('opens where the keeper refuses, which only those inside are told', async () => {
    api.trouble = 'keeper_refused';
    await door.check();
    expect(door.state.value).toBe('open');
  });

  test('stays shut where nobody says anything about it', async () => {
    api.trouble = 'clarvis_unreachable';
    expect(await door.check()).toBe(false);
    expect(door.state.value).toBe('shut');
  });
});

describe('a doubt', () => {
  test('shuts the door only if the server says so', async () => {
    await door.start(null);
    api.trouble = 'keeper_refused';
    await door.verify();
    expect(door.state.value).toBe('open');
    api.trouble = 'not_logged_in';
    await door.verify();
    expect(door.state.value).toBe('shut');
  });
});
