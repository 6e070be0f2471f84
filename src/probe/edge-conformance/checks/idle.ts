/**
 * idle: a connection still works after an idle period.
 */
import { checkResult, notApplicable, type CheckResult } from '../check-result.ts';
import { openHttp, type Checkup } from '../checkup.ts';
import { EdgeConnection } from '../edge-connection.ts';
import { firstResponse, versionRequest } from '../http1.ts';
import { CLIENT_PREFACE, hasPingAck, hasSettings, PING_REQUEST, SETTINGS_ACK } from '../http2.ts';
import { handshakeText } from '../recognition.ts';
import { TIMED_OUT } from '../../limits.ts';

/** An open connection, and a function that checks whether its server responds. */
interface IdleConnection {
  readonly host: string;
  readonly connection: EdgeConnection;
  /** Sends a request or ping, and waits for the response. Undefined if the server supports neither HTTP version. */
  readonly probe?: () => Promise<'answered' | 'ended' | typeof TIMED_OUT>;
}

/** The reason why there is no connection to check. Other checks report it. */
interface NoConnection {
  readonly host: string;
  /** The reason, as a clause that follows the address of the edge. */
  readonly reason: string;
}

/** Sends a request, idles, and sends another request. */
export async function checkIdle(checkup: Checkup): Promise<CheckResult> {
  const { at, idleMs, limits } = checkup;
  const started = await open(checkup);
  if ('reason' in started)
    return notApplicable('idle', `The server at ${at} ${started.reason} for host ${started.host}.`);
  const { host, connection, probe } = started;
  using _ = connection;
  const startMs = performance.now();
  const idle = await connection.receive(() => undefined, { ...limits, timeoutMs: idleMs });
  const subject = `The connection for host ${host} at ${at}`;
  const outcome = idle === TIMED_OUT ? await probe?.() : 'ended';
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  if (outcome === 'ended') {
    return connection.endedByServer
      ? checkResult(
          'idle',
          'IdleClosedByServer',
          `The server of ${host} closed the connection after ${seconds} s.`,
        )
      : checkResult(
          'idle',
          'IdleClosed',
          `${subject} was closed after ${seconds} s without traffic.`,
        );
  }
  if (outcome === TIMED_OUT) {
    const message = `${subject} is open after ${idleMs / 1000} s without traffic, but nothing answers on it.`;
    return checkResult('idle', 'IdleClosed', message);
  }
  return outcome === undefined
    ? checkResult(
        'idle',
        'Passed',
        `${subject} is open after ${idleMs / 1000} s. Its server cannot be probed.`,
      )
    : checkResult('idle', 'Passed', `${subject} answers after ${idleMs / 1000} s without traffic.`);
}

/** Opens the connection: with HTTP/2 for its pings if the server supports it, otherwise with HTTP/1.1. */
async function open(checkup: Checkup): Promise<IdleConnection | NoConnection> {
  const { edge, served, httpHost, limits } = checkup;
  const [host] = served;
  const connection = await EdgeConnection.open(edge, { serverName: host }, limits);
  const { handshake } = connection;
  if (handshake.kind !== 'secured') {
    return { host, reason: handshakeText(handshake, limits.timeoutMs) };
  }
  let isOpen = true;
  if (handshake.protocol === 'h2') {
    connection.send(CLIENT_PREFACE);
    const settings = await connection.waitFor(hasSettings, limits);
    if (settings === true) {
      connection.send(SETTINGS_ACK);
      return {
        host,
        connection,
        probe: async () => {
          connection.send(PING_REQUEST);
          return probeOutcome(await connection.waitFor(hasPingAck, limits));
        },
      };
    }
    isOpen = settings !== 'ended';
  }
  if (httpHost === undefined && isOpen) return { host, connection };
  connection[Symbol.dispose]();
  return httpHost === undefined
    ? { host, reason: 'closed the connection at its start' }
    : openWithHttp1(checkup, httpHost);
}

async function openWithHttp1(
  { edge, limits }: Checkup,
  host: string,
): Promise<IdleConnection | NoConnection> {
  const connection = await openHttp(edge, host, limits);
  const { handshake } = connection;
  if (handshake.kind !== 'secured') {
    return { host, reason: handshakeText(handshake, limits.timeoutMs) };
  }
  const probe = async () => {
    connection.send(versionRequest(host));
    const response = await connection.receive(firstResponse, limits);
    if (typeof response === 'object') connection.drop(response.bytes);
    return probeOutcome(response);
  };
  if ((await probe()) === 'answered') return { host, connection, probe };
  connection[Symbol.dispose]();
  return { host, reason: 'did not answer the first request' };
}

function probeOutcome(response: unknown): 'answered' | 'ended' | typeof TIMED_OUT {
  return response === 'ended' || response === TIMED_OUT ? response : 'answered';
}
