import { expect, test } from 'bun:test';
import { listenPlain } from '../bun/plain-listener.ts';
import { freePort } from '../conformance/free-port.ts';
import { whyNotAlone } from './sole-listener.ts';

const LOOPBACK = '127.0.0.1';
const SILENT = { data() {} };

test('a port that another process shares with whoever comes is not had alone', () => {
  using other = listenPlain({ address: LOOPBACK, port: 0, reusePort: true }, SILENT);
  const { port } = other;

  const reason = whyNotAlone([{ address: LOOPBACK, port }]);

  expect(reason?.message).toBe(`cannot listen on ${LOOPBACK}:${port} (EADDRINUSE)`);
});

test('free ports are as free afterwards', () => {
  const port = freePort();
  const wanted = [
    { address: LOOPBACK, port },
    { address: LOOPBACK, port: 0 },
  ];

  const reasons = [whyNotAlone(wanted), whyNotAlone(wanted)];

  using listener = listenPlain({ address: LOOPBACK, port, reusePort: true }, SILENT);
  expect(reasons).toEqual([undefined, undefined]);
  expect(listener.port).toBe(port);
});
