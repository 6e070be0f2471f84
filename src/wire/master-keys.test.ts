import { expect, test } from 'bun:test';
import { parseKeys } from './master-keys.ts';

const KEY = Buffer.from('0123456789abcdef0123456789abcdef');

test('reads keys in base64, base64url and hex, one per line', () => {
  expect(parseKeys(`${KEY.toString('base64')}\n`, 'keys')).toEqual([KEY]);
  expect(parseKeys(KEY.toString('base64url'), 'keys')).toEqual([KEY]);
  const withUrlCharacters = Buffer.alloc(32, 0xfb);
  expect(parseKeys(`${withUrlCharacters.toString('base64url')}=\n`, 'keys')).toEqual([
    withUrlCharacters,
  ]);
  expect(parseKeys(`# current\n\n ${KEY.toString('hex')} \r\n`, 'keys')).toEqual([KEY]);
});

test('reads two keys during a rotation', () => {
  const second = Buffer.alloc(40, 7);

  const keys = parseKeys(`${KEY.toString('base64')}\n${second.toString('hex')}\n`, 'keys');

  expect(keys).toEqual([KEY, second]);
});

test.each([
  ['', 'keys: no key; write one line of base64 or hex'],
  ['# only a comment\n', 'keys: no key'],
  ['c2hvcnQ=\n', 'keys:1: the key has 5 bytes, and needs 32'],
  [
    '\n\nnot a key!\n',
    'keys:3: not a valid base64 or hex key; generate one with: openssl rand -base64 32',
  ],
  [`${KEY.toString('hex')}\n`.repeat(3), 'keys: 3 keys; keep the current key'],
])('rejects %p', (text, message) => {
  expect(() => parseKeys(text, 'keys')).toThrow(message);
});

test('rejects a truncated key', () => {
  const whole = Buffer.alloc(48, 'k').toString('base64');
  const padded = Buffer.alloc(40, 'k').toString('base64');

  for (const word of [whole, padded]) {
    expect(() => parseKeys(word.slice(0, -1), 'keys')).toThrow(
      'keys:1: not a valid base64 or hex key',
    );
  }
});

test('errors do not contain the content of the file', () => {
  const secret = 'hunter2hunter2';

  expect(() => parseKeys(`${secret}!\n`, 'keys')).not.toThrow(secret);
});
