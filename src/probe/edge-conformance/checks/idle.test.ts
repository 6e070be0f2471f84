import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { TLSSocket } from 'node:tls';
import { ApiServer } from '../../../proxy/testing/api-server.ts';
import { dialTcp, type Dial } from '../../dial.ts';
import { neverRespond } from '../../testing/responses.ts';
import type { CheckResult } from '../check-result.ts';
import { Recognition } from '../recognition.ts';
import { EdgeLab, expectResult, HOST_A } from '../testing/edge-lab.ts';
import type { EdgeFaults } from '../testing/misbehaving-edge.ts';
import { httpSpeaker } from '../testing/http-speaker.ts';
import { checkIdle } from './idle.ts';

setDefaultTimeout(240_000);

interface Situation {
  readonly onConnection?: (socket: TLSSocket) => void;
  readonly protocols?: readonly string[];
  readonly dial?: Dial;
  /** Whether HTTP/1.1 was used with it before. */
  readonly isHttp?: boolean;
  /** Default 30,000. */
  readonly timeoutMs?: number;
}

async function idled(situation: Situation): Promise<CheckResult> {
  const {
    onConnection = neverRespond,
    protocols = ['http/1.1'],
    dial = dialTcp,
    isHttp,
  } = situation;
  const { timeoutMs = 30_000 } = situation;
  await using lab = await EdgeLab.create();
  const { serving } = lab.a;
  const { port } = lab.use(await ApiServer.start({ serving, protocols, onConnection }));
  return await checkIdle({
    edge: { address: '127.0.0.1', port, dial },
    at: 'the edge',
    handshakes: new Map(),
    recognition: new Recognition([HOST_A], []),
    served: [HOST_A],
    idleMs: 50,
    httpHost: isHttp === true ? HOST_A : undefined,
    limits: { timeoutMs },
  });
}

/** Returns a dial that allows this many calls and refuses all others. */
function dialsAtMost(count: number): Dial {
  let dials = 0;
  return async (...target) => {
    if (++dials > count) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    return dialTcp(...target);
  };
}

function hangUp(socket: TLSSocket): void {
  socket.once('data', () => socket.destroy());
}

test('a connection that works before and after the idle time passes', async () => {
  expect(await idled({ onConnection: httpSpeaker(), isHttp: true })).toMatchObject({
    code: 'Passed',
  });
});

test.each([
  [
    'that does not open',
    { dial: dialsAtMost(0) },
    'closed the connection during the handshake (ECONNREFUSED)',
  ],
  [
    'that does not open for HTTP/1.1',
    { dial: dialsAtMost(1), isHttp: true },
    'closed the connection during the handshake (ECONNREFUSED)',
  ],
  [
    'that the server closes at the first request',
    { onConnection: hangUp, isHttp: true },
    'did not answer the first request',
  ],
  [
    'that the server closes at the start of HTTP/2',
    { onConnection: hangUp, protocols: ['h2'] },
    'closed the connection at its start',
  ],
] as const)('is skipped for a connection %s', async (_, given, reason) => {
  expect(await idled(given)).toEqual({
    check: 'idle',
    state: 'Skip',
    code: 'NotApplicable',
    message: `The server at the edge ${reason} for host ${HOST_A}.`,
  });
});

test('is skipped for a connection without a response to the first request', async () => {
  const message = `The server at the edge did not answer the first request for host ${HOST_A}.`;

  await expectResult({ code: 'NotApplicable', message }, async (timeoutMs) =>
    idled({ onConnection: neverRespond, isHttp: true, timeoutMs }),
  );
});

// The edge or the server acts after the timeout of a check, and the connection is idle for a little longer.
describe('an idle connection', () => {
  test.each([
    ['the edge closes', 'cutsIdleMs', 'IdleClosed'],
    ['the edge drops', 'stallsAfterIdleMs', 'IdleClosed'],
  ] as const)('that %s fails', async (_, fault, code) => {
    await using lab = await EdgeLab.create();

    await expectResult({ code }, async (timeoutMs) => {
      const { port } = await lab.misbehavingEdge({ [fault]: timeoutMs } satisfies EdgeFaults);
      const checkup = await lab.checkup(port);
      return checkIdle({ ...checkup, limits: { timeoutMs }, idleMs: 1.25 * timeoutMs });
    });
  });

  test('that the edge closes fails, even if the server does not support HTTP', async () => {
    await using lab = await EdgeLab.create();

    await expectResult({ code: 'IdleClosed' }, async (timeoutMs) => {
      // The check first waits for the HTTP/2 SETTINGS until the timeout.
      const { port } = await lab.edgeInFrontOf(neverRespond, { cutsIdleMs: 1.5 * timeoutMs });
      const checkup = await lab.checkup(port, { hosts: [HOST_A], isHttp: false });
      return checkIdle({ ...checkup, limits: { timeoutMs }, idleMs: 2 * timeoutMs });
    });
  });

  test('that the server closes with a TLS alert is not a failure of the edge', async () => {
    await using lab = await EdgeLab.create();

    await expectResult({ code: 'IdleClosedByServer' }, async (timeoutMs) => {
      const { port } = await lab.edgeInFrontOf(httpSpeaker({ endsAfterMs: timeoutMs }));
      const checkup = await lab.checkup(port, { hosts: [HOST_A] });
      return checkIdle({ ...checkup, limits: { timeoutMs }, idleMs: 1.25 * timeoutMs });
    });
  });

  test('whose server cannot be probed passes if it stays open', async () => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.edgeInFrontOf(neverRespond);
    const checkup = await lab.checkup(port, { hosts: [HOST_A], isHttp: false });

    const { at } = checkup;
    const message = `The connection for host ${HOST_A} at ${at} is open after 0.001 s. Its server cannot be probed.`;

    await expectResult({ code: 'Passed', message }, async (timeoutMs) =>
      checkIdle({ ...checkup, limits: { timeoutMs }, idleMs: 1 }),
    );
  });
});
