import { expect, test } from 'bun:test';
import { listenTcp } from './tcp-listener.ts';
import { freePort } from './testing/free-port.ts';
import { findPortConflict } from './port-conflict.ts';

const LOOPBACK = '127.0.0.1';
const SILENT = { data() {} };

test('reports a port that another process listens on with SO_REUSEPORT', () => {
  using other = listenTcp({ address: LOOPBACK, port: 0, reusePort: true }, SILENT);
  const { port } = other;

  const reason = findPortConflict([{ address: LOOPBACK, port }]);

  expect(reason?.message).toBe(`cannot listen on ${LOOPBACK}:${port} (EADDRINUSE)`);
});

test('does not keep free ports open', () => {
  const port = freePort();
  const wanted = [
    { address: LOOPBACK, port },
    { address: LOOPBACK, port: 0 },
  ];

  const reasons = [findPortConflict(wanted), findPortConflict(wanted)];

  using listener = listenTcp({ address: LOOPBACK, port, reusePort: true }, SILENT);
  expect(reasons).toEqual([undefined, undefined]);
  expect(listener.port).toBe(port);
});
