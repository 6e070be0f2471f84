import { expect, test } from 'bun:test';
import { similarCodes } from './similar-codes.ts';

const CODES = ['DnsElsewhere', 'DnsNoAnswer', 'DnsResolves', 'HostConflict', 'EdgeNotFound'];

test.each([
  ['DnsElsewher', ['DnsElsewhere']],
  ['hostconflct', ['HostConflict']],
  ['noanswer', ['DnsNoAnswer']],
  ['dns', ['DnsElsewhere', 'DnsNoAnswer', 'DnsResolves']],
  ['Xyzzy', []],
  ['', []],
])('%s suggests %j', (text, suggested) => {
  expect(similarCodes(text, CODES)).toEqual(suggested);
});
