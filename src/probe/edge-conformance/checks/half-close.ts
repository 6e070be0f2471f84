/**
 * half-close: a client that has ended its side still gets its answer, and the server learns of the end.
 *
 * An edge sees the end of TCP alone: what TLS says of it is sealed. So it can be tried behind a request, which needs a
 * server of HTTP, and behind the hello, which every server answers before it notices; and only there does the server hear
 * of the end by TCP alone.
 */
import type { Socket } from 'node:net';
import { checkResult, type CheckResult } from '../check-result.ts';
import { openHttp, type Checkup } from '../checkup.ts';
import { helloBytes } from '../edge-connection.ts';
import { firstAnswer, versionRequest } from '../http1.ts';
import { MESSAGES, RecordLog } from '../record-log.ts';
import { errorCode } from '../../dial.ts';
import { inTime, TIMED_OUT } from '../../limits.ts';

/** A server that hangs up by itself may lose the race now and then. */
const TRIES = 5;

interface HalfClosed {
  /** Whether the answer came. */
  readonly isAnswered: boolean;
  /** Whether the other side ended in its turn: in the middle of a handshake every server does. */
  readonly hasEnded: boolean;
}

/**
 * Makes the check, by HTTP if there is any. If the ends of servers do not arrive (`endsArrive`), whether the server has
 * learnt of the client's cannot be seen.
 */
export async function checkHalfClose(checkup: Checkup, endsArrive: boolean): Promise<CheckResult> {
  const { at, httpHost, served, limits } = checkup;
  const early = await endBehindHello(checkup, served[0]);
  const what = `${at}, asked for ${served[0]} with a FIN behind the hello,`;
  const isAnsweredLate =
    httpHost === undefined ? early.isAnswered : await isAnsweredInHttp(checkup, httpHost);
  if (early.isAnswered !== isAnsweredLate) {
    const text = early.isAnswered
      ? 'answers; behind a request it does not'
      : 'does not answer; behind a request it does';
    return checkResult('HalfCloseUnclear', `${what} ${text}`);
  }
  if (!early.isAnswered) return checkResult('HalfCloseCut', `${what} does not answer`);
  return early.hasEnded || !endsArrive
    ? checkResult('HalfCloseKept', 'an answer comes behind the FIN of the client')
    : checkResult('HalfCloseNotPassedOn', `${what} does not end in ${limits.timeoutMs} ms`);
}

async function endBehindHello({ edge, limits }: Checkup, host: string): Promise<HalfClosed> {
  const hello = await helloBytes({ serverName: host });
  const records = new RecordLog();
  const end = await inTime(limits, async (signal) => {
    try {
      const socket = await edge.dial(edge.address, edge.port, signal);
      socket.on('data', (chunk: Buffer) => records.add(chunk));
      socket.end(hello);
      await endOf(socket, signal);
    } catch (error) {
      // Not even a connection: then there is no answer either.
      if (errorCode(error) === '' && !signal.aborted) throw error;
    }
  });
  const isAnswered = records.messageTypes().includes(MESSAGES.serverHello);
  return { isAnswered, hasEnded: end !== TIMED_OUT };
}

/** Done when the other side has ended, by a FIN or a reset, or nobody waits any more; then all of it is closed. */
async function endOf(socket: Socket, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const event of ['end', 'error', 'close'] as const) socket.once(event, () => resolve());
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  socket.destroy();
}

/** Whether most of several requests with an end behind them are answered. */
async function isAnsweredInHttp({ edge, limits }: Checkup, host: string): Promise<boolean> {
  let answered = 0;
  for (let tries = 0; tries < TRIES; tries++) {
    using connection = await openHttp(edge, host, limits);
    connection.sendLast(versionRequest(host));
    const answer = await connection.receive(firstAnswer, limits);
    if (answer === TIMED_OUT) return false;
    if (typeof answer === 'object') answered++;
  }
  return answered > TRIES / 2;
}
