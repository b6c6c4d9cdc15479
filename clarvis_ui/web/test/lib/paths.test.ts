import { expect, test } from 'vitest';
import { relativeTo, shortPath } from '../../src/lib/paths';

test('a file is named as it is from where one works', () => {
  expect(relativeTo('/code/shop/a.py', '/code/shop/')).toBe('a.py');
  expect(relativeTo('C:\\code\\a.py', 'C:\\code')).toBe('a.py');
  expect(relativeTo('/code/shopping/a.py', '/code/shop')).toBe('/code/shopping/a.py');
  expect(relativeTo('/code/a.py', null)).toBe('/code/a.py');
});

test('of one elsewhere the end says most', () => {
  expect(shortPath('/home/me/code/app/src/auth/login.py', null)).toBe('src/auth/login.py');
  expect(shortPath('/home/me/code/app/src/auth/login.py', '/home/me/code/app')).toBe(
    'src/auth/login.py',
  );
  expect(shortPath('/home/me/code/app/a.py', '/home/me/code/app')).toBe('a.py');
  expect(shortPath('C:\\code\\app\\src\\login.py', null)).toBe('app/src/login.py');
  expect(shortPath('/etc/hosts', null)).toBe('/etc/hosts');
});
