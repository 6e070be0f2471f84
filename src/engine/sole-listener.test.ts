import { expect, test } from 'bun:test';
import { listenPlain } from '../engine/bun/plain-listener.ts';
import { refuseSharedPorts } from './sole-listener.ts';

const LOOPBACK = '127.0.0.1';
const SILENT = { data() {} };

test('a port that another process shares with whoever comes is refused', () => {
  using other = listenPlain({ address: LOOPBACK, port: 0, reusePort: true }, SILENT);
  const { port } = other;

  expect(() => refuseSharedPorts([{ address: LOOPBACK, port }])).toThrow(
    `cannot listen on ${LOOPBACK}:${port} (EADDRINUSE); another program has that port: stop it, or choose another`,
  );
});

test('free ports are as free afterwards', () => {
  const port = freePort();
  const wanted = [
    { address: LOOPBACK, port },
    { address: LOOPBACK, port: 0 },
  ];

  refuseSharedPorts(wanted);
  refuseSharedPorts(wanted);

  using listener = listenPlain({ address: LOOPBACK, port, reusePort: true }, SILENT);
  expect(listener.port).toBe(port);
});

function freePort(): number {
  using listener = listenPlain({ address: LOOPBACK, port: 0 }, SILENT);
  return listener.port;
}
