import { expect, test } from 'bun:test';
import { silentPort } from '../../net/testing/silent-port.ts';
import { until } from '../../net/testing/peer.ts';
import { dialTcp, type Dial } from '../dial.ts';
import { ProbeLab } from '../testing/lab.ts';
import { probeEdge } from './edge.ts';

const LIMITS = { timeoutMs: 30_000 };

/** Returns a dial that fails for some addresses. */
function dialBut(failures: Readonly<Record<string, string>>): Dial {
  return async (address, port, signal) => {
    const code = failures[address];
    if (code !== undefined) throw Object.assign(new Error('connect'), { code });
    return dialTcp(address, port, signal);
  };
}

test('an edge that accepts passes, and its connection can be reused', async () => {
  await using lab = await ProbeLab.create();
  const edge = lab.edgeThat(() => {});

  const { result, accepting, connections } = await probeEdge(
    ['127.0.0.1'],
    edge.port,
    dialTcp,
    LIMITS,
  );

  expect(result).toMatchObject({ state: 'Pass', code: 'Passed' });
  expect(result.target).toBe(`127.0.0.1:${edge.port}`);
  expect(accepting).toEqual(['127.0.0.1']);
  connections.get('127.0.0.1')!.destroy();
  const peer = await edge.next();
  await until(() => peer.closed || peer.sawFin, 'the hang-up');
});

test('an edge without a listener fails', async () => {
  const { result, accepting } = await probeEdge(['127.0.0.1'], 1, dialTcp, LIMITS);

  expect(result).toMatchObject({ state: 'Fail', code: 'EdgeRefused' });
  expect(result.message).toBe('Nothing listens at 127.0.0.1:1.');
  expect(result.action).toContain('listens on port 1');
  expect(accepting).toEqual([]);
});

test('an edge that drops packets fails after the timeout', async () => {
  using edge = silentPort();

  const { result } = await probeEdge(['127.0.0.1'], edge.port, dialTcp, { timeoutMs: 50 });

  expect(result).toMatchObject({ state: 'Fail', code: 'EdgeUnreachable' });
  expect(result.message).toBe(`Address 127.0.0.1:${edge.port} did not answer within 50 ms.`);
});

test('a timeout of the kernel counts as no response too', async () => {
  const dial = dialBut({ '203.0.113.10': 'ETIMEDOUT' });

  const { result } = await probeEdge(['203.0.113.10'], 443, dial, LIMITS);

  expect(result.code).toBe('EdgeUnreachable');
});

test.each(['EHOSTUNREACH', 'ENETUNREACH', 'EINVAL'])(
  'an address without a route fails: %s',
  async (code) => {
    const { result } = await probeEdge(
      ['2001:db8::1'],
      443,
      dialBut({ '2001:db8::1': code }),
      LIMITS,
    );

    expect(result).toMatchObject({ state: 'Fail', code: 'EdgeUnreachable' });
    expect(result.message).toBe(`Address [2001:db8::1]:443 cannot be reached (${code}).`);
  },
);

test('a server that resets at once counts as listening', async () => {
  const dial = dialBut({ '203.0.113.10': 'ECONNRESET' });

  const { result, accepting } = await probeEdge(['203.0.113.10'], 443, dial, LIMITS);

  expect(result.code).toBe('Passed');
  expect(accepting).toEqual(['203.0.113.10']);
});

test('names the address that is down, and continues with the others', async () => {
  await using lab = await ProbeLab.create();
  const edge = lab.edgeThat(() => {});
  const addresses = ['127.0.0.1', '203.0.113.10'];
  const dial = dialBut({ '203.0.113.10': 'ECONNREFUSED' });

  const { result, accepting, connections } = await probeEdge(addresses, edge.port, dial, LIMITS);

  expect(result).toMatchObject({ state: 'Pass', code: 'Degraded' });
  expect(result.message).toBe(
    `Nothing listens at 203.0.113.10:${edge.port}. The edge accepts connections at 127.0.0.1:${edge.port}.`,
  );
  expect(result.action).toContain(`Check the edge at 203.0.113.10:${edge.port}`);
  expect(accepting).toEqual(['127.0.0.1']);
  expect(connections.size).toBe(0);
  const peer = await edge.next();
  await until(() => peer.closed || peer.sawFin, 'the hang-up');
});

test('fails if no address accepts, and names the first', async () => {
  const dial = dialBut({ '203.0.113.10': 'ECONNREFUSED', '203.0.113.11': 'ETIMEDOUT' });

  const { result, accepting } = await probeEdge(
    ['203.0.113.10', '203.0.113.11'],
    443,
    dial,
    LIMITS,
  );

  expect(result).toMatchObject({ state: 'Fail', code: 'EdgeRefused' });
  expect(result.message).toBe('Nothing listens at 203.0.113.10:443.');
  expect(accepting).toEqual([]);
});

test('a machine without IPv6 ignores the IPv6 address of the edge', async () => {
  await using lab = await ProbeLab.create();
  const { port } = lab.edgeThat(() => {});
  const dial = dialBut({ '2001:db8::1': 'ENETUNREACH' });

  const results = await probeEdge(['2001:db8::1', '127.0.0.1'], port, dial, LIMITS);
  const alone = await probeEdge(['2001:db8::1'], port, dial, LIMITS);

  expect(results.result.code).toBe('Passed');
  expect(results.accepting).toEqual(['127.0.0.1']);
  expect(alone.result.code).toBe('EdgeUnreachable');
});

test('closes open connections when it is aborted', async () => {
  await using lab = await ProbeLab.create();
  const edge = lab.edgeThat(() => {});
  using deaf = silentPort();
  const caller = new AbortController();
  const dial: Dial = async (address, port, signal) =>
    dialTcp('127.0.0.1', address === 'deaf' ? deaf.port : port, signal);

  const probe = probeEdge(['127.0.0.1', 'deaf'], edge.port, dial, {
    signal: caller.signal,
    timeoutMs: 600_000,
  });
  const peer = await edge.next();
  caller.abort(new Error('gone'));

  await expect(probe).rejects.toThrow('gone');
  await until(() => peer.closed || peer.sawFin, 'the hang-up');
});
