import { expect, test } from 'bun:test';
import { similarCodes } from './similar-codes.ts';

const CODES = ['DnsWrongAddress', 'DnsNoAnswer', 'DnsResolves', 'HostConflict', 'EdgeNotFound'];

test.each([
  ['DnsElsewher', ['DnsWrongAddress']],
  ['hostconflct', ['HostConflict']],
  ['noanswer', ['DnsNoAnswer']],
  ['dns', ['DnsWrongAddress', 'DnsNoAnswer', 'DnsResolves']],
  ['Xyzzy', []],
  ['', []],
])('%s suggests %j', (text, suggested) => {
  expect(similarCodes(text, CODES)).toEqual(suggested);
});
