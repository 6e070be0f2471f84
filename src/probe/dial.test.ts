import { expect, test } from 'bun:test';
import { silentPort } from '../net/testing/silent-port.ts';
import { until } from '../net/testing/peer.ts';
import { addressText, dialTcp, errorCode, SpareConnections } from './dial.ts';
import { ProbeLab } from './testing/lab.ts';

const NEVER = new AbortController().signal;

test('an aborted dial ends with the reason', async () => {
  using deaf = silentPort();
  const caller = new AbortController();
  const reason = new Error('gone');

  const dial = dialTcp('127.0.0.1', deaf.port, caller.signal);
  caller.abort(reason);

  await expect(dial).rejects.toBe(reason);
});

test('an open connection is used by the first dial of its address', async () => {
  await using lab = await ProbeLab.create();
  const edge = lab.edgeThat(() => {});
  const open = await dialTcp('127.0.0.1', edge.port, NEVER);
  const spare = new SpareConnections(new Map([['127.0.0.1', open]]), dialTcp);

  const first = await spare.dial('127.0.0.1', edge.port, NEVER);
  const second = await spare.dial('127.0.0.1', edge.port, NEVER);

  expect(first).toBe(open);
  expect(second).not.toBe(open);
  first.destroy();
  second.destroy();
});

test('a broken connection is not used, and an unused one is closed', async () => {
  await using lab = await ProbeLab.create();
  const edge = lab.edgeThat(() => {});
  const [broken, unused] = [
    await dialTcp('127.0.0.1', edge.port, NEVER),
    await dialTcp('127.0.0.1', edge.port, NEVER),
  ];
  const connections = new Map([
    ['127.0.0.1', broken],
    ['127.0.0.2', unused],
  ]);
  const spare = new SpareConnections(connections, dialTcp);
  broken.destroy();

  const dialed = await spare.dial('127.0.0.1', edge.port, NEVER);
  spare.close();

  expect(dialed.destroyed).toBe(false);
  dialed.destroy();
  await until(() => edge.peers.every(({ closed, sawFin }) => closed || sawFin), 'the hang-up');
});

test('the code of an error is a string', () => {
  expect(errorCode(Object.assign(new Error(), { code: 'ECONNRESET' }))).toBe('ECONNRESET');
  expect(errorCode(new DOMException('gone', 'AbortError'))).toBe('');
  expect(errorCode('ECONNRESET')).toBe('');
});

test('an IPv6 address has brackets before its port', () => {
  expect(addressText('10.0.0.5', 443)).toBe('10.0.0.5:443');
  expect(addressText('fd00::5', 443)).toBe('[fd00::5]:443');
});
