import { expect, test } from 'bun:test';
import { similarCodes } from './similar-codes.ts';

const CODES = ['DnsWrongAddress', 'DnsNoAnswer', 'DnsMismatch', 'HostConflict', 'EdgeNotFound'];

test.each([
  ['DnsWrongAdress', ['DnsWrongAddress']],
  ['hostconflct', ['HostConflict']],
  ['noanswer', ['DnsNoAnswer']],
  ['dns', ['DnsMismatch', 'DnsNoAnswer', 'DnsWrongAddress']],
  ['EdgeHostConflict', ['HostConflict']],
  ['Xyzzy', []],
  ['', []],
])('%s suggests %j', (text, suggested) => {
  expect(similarCodes(text, CODES)).toEqual(suggested);
});
