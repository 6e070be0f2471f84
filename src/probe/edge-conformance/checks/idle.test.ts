import { expect, setDefaultTimeout, test } from 'bun:test';
import type { TLSSocket } from 'node:tls';
import { ApiServer } from '../../../proxy/testing/api-server.ts';
import { dialTcp, type Dial } from '../../dial.ts';
import { silent } from '../../testing/answers.ts';
import type { CheckResult } from '../check-result.ts';
import { Recognition } from '../recognition.ts';
import { EdgeLab, HOST_A } from '../testing/edge-lab.ts';
import { httpSpeaker } from '../testing/http-speaker.ts';
import { checkIdle } from './idle.ts';

setDefaultTimeout(150_000);

interface Situation {
  readonly onConnection?: (socket: TLSSocket) => void;
  readonly protocols?: readonly string[];
  readonly dial?: Dial;
  /** That HTTP/1.1 was spoken to it before. */
  readonly isHttp?: boolean;
  /** Default 30,000. */
  readonly timeoutMs?: number;
}

async function idled(situation: Situation): Promise<CheckResult> {
  const { onConnection = silent, protocols = ['http/1.1'], dial = dialTcp, isHttp } = situation;
  const { timeoutMs = 30_000 } = situation;
  await using lab = await EdgeLab.create();
  const { serving } = lab.a;
  const { port } = lab.use(await ApiServer.start({ serving, protocols, onConnection }));
  return await checkIdle({
    ...{ edge: { address: '127.0.0.1', port, dial }, at: 'the edge', looks: new Map() },
    ...{ recognition: new Recognition([HOST_A], []), served: [HOST_A], idleMs: 50 },
    httpHost: isHttp === true ? HOST_A : undefined,
    limits: { timeoutMs },
  });
}

/** Lets so many dials pass, and refuses all others. */
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

test('a connection that answers before and after is kept', async () => {
  expect(await idled({ onConnection: httpSpeaker(), isHttp: true })).toMatchObject({
    code: 'IdleKept',
  });
});

test.each([
  ['that does not open', { dial: dialsAtMost(0) }, 'hung up during the handshake (ECONNREFUSED)'],
  [
    'that does not open for HTTP/1.1',
    { dial: dialsAtMost(1), isHttp: true },
    'hung up during the handshake (ECONNREFUSED)',
  ],
  [
    'whose first request is hung up on',
    { onConnection: hangUp, isHttp: true },
    'did not answer the first request',
  ],
  [
    'whose first request is not answered',
    { onConnection: silent, isHttp: true, timeoutMs: 1000 },
    'did not answer the first request',
  ],
  [
    'that ends when HTTP/2 begins',
    { onConnection: hangUp, protocols: ['h2'] },
    'ended the connection at its start',
  ],
] as const)(
  'a connection %s was not quiet, and so is not said to be cut',
  async (_, given, why) => {
    expect(await idled(given)).toEqual({
      ...{ check: 'idle', state: 'Skip', code: 'NothingToCheck' },
      message: `the edge ${why}, asked for ${HOST_A}`,
    });
  },
);
