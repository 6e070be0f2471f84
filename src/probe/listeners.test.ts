import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { freePort } from '../net/testing/free-port.ts';
import { listeningAddresses } from './listeners.ts';

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0708097F:1D14 00000000:0000 0A 00000000:00000000 00:00000000 00000000 65532        0 1
   1: 0100007F:1D14 00000000:0000 01 00000000:00000000 00:00000000 00000000     0        0 2
   2: 00000000:1D13 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 3
`;

test('returns listeners of the port, and neither connections nor other ports', () => {
  expect(listeningAddresses(TABLE, 7444)).toEqual(['127.9.8.7']);
  expect(listeningAddresses(TABLE, 7443)).toEqual(['0.0.0.0']);
  expect(listeningAddresses(TABLE, 1)).toEqual([]);
  expect(listeningAddresses('', 7444)).toEqual([]);
});

test('parses the table of the kernel of this machine', () => {
  using server = Bun.listen({ hostname: '127.7.7.7', port: freePort(), socket: { data() {} } });

  const table = readFileSync('/proc/net/tcp', 'utf8');

  expect(listeningAddresses(table, server.port)).toEqual(['127.7.7.7']);
});
