/**
 * half-close: a client that has closed its side still receives its response, and the server is notified of the close.
 *
 * An edge sees only the end of TCP, since that of TLS is encrypted. The check closes after a request, which needs an
 * HTTP server, and after the ClientHello, which every server answers before it notices the close. Only in the second
 * case does the server learn of the close from TCP alone.
 */
import type { Socket } from 'node:net';
import { checkResult, type CheckResult } from '../check-result.ts';
import { openHttp, type Checkup } from '../checkup.ts';
import { helloBytes } from '../edge-connection.ts';
import { firstResponse, versionRequest } from '../http1.ts';
import { MESSAGES, RecordLog } from '../record-log.ts';
import { errorCode } from '../../dial.ts';
import { withTimeout, TIMED_OUT } from '../../limits.ts';

/** The number of attempts, since a server that closes on its own may occasionally lose the race. */
const TRIES = 5;

interface HalfClosed {
  /** Whether a response arrived. */
  readonly isAnswered: boolean;
  /** Whether the other side closed too. During a handshake every server does. */
  readonly hasEnded: boolean;
}

/**
 * Runs the check, with HTTP if a server supports it. If `endsArrive` is false, the ends of servers do not reach
 * clients, so it cannot be observed whether the server was notified.
 */
export async function checkHalfClose(checkup: Checkup, endsArrive: boolean): Promise<CheckResult> {
  const { at, httpHost, served, limits } = checkup;
  const early = await endBehindHello(checkup, served[0]);
  const subject = `Host ${served[0]} at ${at}`;
  const isAnsweredLate =
    httpHost === undefined ? early.isAnswered : await isAnsweredInHttp(checkup, httpHost);
  if (early.isAnswered !== isAnsweredLate) {
    const text = early.isAnswered
      ? 'answers after a FIN that follows the ClientHello, but not after one that follows a request'
      : 'does not answer after a FIN that follows the ClientHello, but answers after one that follows a request';
    return checkResult('half-close', 'HalfCloseUnclear', `${subject} ${text}.`);
  }
  if (!early.isAnswered)
    return checkResult(
      'half-close',
      'HalfCloseCutsResponse',
      `${subject} does not answer after a FIN that follows the ClientHello.`,
    );
  return early.hasEnded || !endsArrive
    ? checkResult('half-close', 'Passed', 'A response arrives after the FIN of the client.')
    : checkResult(
        'half-close',
        'CloseNotForwarded',
        `${subject} does not close the connection within ${limits.timeoutMs} ms after the FIN of the client.`,
      );
}

async function endBehindHello({ edge, limits }: Checkup, host: string): Promise<HalfClosed> {
  const hello = await helloBytes({ serverName: host });
  const records = new RecordLog();
  const end = await withTimeout(limits, async (signal) => {
    try {
      const socket = await edge.dial(edge.address, edge.port, signal);
      socket.on('data', (chunk: Buffer) => records.add(chunk));
      socket.end(hello);
      await endOf(socket, signal);
    } catch (error) {
      // No connection means no response.
      if (errorCode(error) === '' && !signal.aborted) throw error;
    }
  });
  const isAnswered = records.messageTypes().includes(MESSAGES.serverHello);
  return { isAnswered, hasEnded: end !== TIMED_OUT };
}

/** Waits until the other side ends the connection with a FIN or a reset, or the signal aborts, and then closes it. */
async function endOf(socket: Socket, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const event of ['end', 'error', 'close'] as const) socket.once(event, () => resolve());
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  socket.destroy();
}

/** Reports whether most of several half-closed requests get a response. */
async function isAnsweredInHttp({ edge, limits }: Checkup, host: string): Promise<boolean> {
  let answered = 0;
  for (let tries = 0; tries < TRIES; tries++) {
    using connection = await openHttp(edge, host, limits);
    connection.sendLast(versionRequest(host));
    const response = await connection.receive(firstResponse, limits);
    if (response === TIMED_OUT) return false;
    if (typeof response === 'object') answered++;
  }
  return answered > TRIES / 2;
}
