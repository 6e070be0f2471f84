/**
 * idle: a connection still works after an idle period.
 */
import { checkResult, nothingToCheck, type CheckResult } from '../check-result.ts';
import { openHttp, type Checkup } from '../checkup.ts';
import { EdgeConnection } from '../edge-connection.ts';
import { firstResponse, versionRequest } from '../http1.ts';
import { CLIENT_PREFACE, hasPingAck, hasSettings, PING_REQUEST, SETTINGS_ACK } from '../http2.ts';
import { handshakeText } from '../recognition.ts';
import { TIMED_OUT } from '../../limits.ts';

/** An open connection, and how to check whether its server responds. */
interface Conversation {
  readonly host: string;
  readonly connection: EdgeConnection;
  /** Absent if the server cannot be asked. */
  readonly ask?: () => Promise<'answered' | 'ended' | typeof TIMED_OUT>;
}

/** The reason if there is no connection for the check. Other checks report it. */
interface NoConversation {
  readonly host: string;
  /** What the edge does for this host. */
  readonly why: string;
}

/** Sends a request, idles, and sends another request. */
export async function checkIdle(checkup: Checkup): Promise<CheckResult> {
  const { at, idleMs, limits } = checkup;
  const started = await begin(checkup);
  if ('why' in started)
    return nothingToCheck('idle', `The server at ${at} ${started.why} for host ${started.host}.`);
  const { host, connection, ask } = started;
  using _ = connection;
  const from = performance.now();
  const quiet = await connection.receive(() => undefined, { ...limits, timeoutMs: idleMs });
  const what = `The connection for host ${host} at ${at}`;
  const asked = quiet === TIMED_OUT ? await ask?.() : 'ended';
  const seconds = ((performance.now() - from) / 1000).toFixed(1);
  if (asked === 'ended') {
    return connection.endedByServer
      ? checkResult(
          'IdleClosedByServer',
          `The server of ${host} closed the connection after ${seconds} s.`,
        )
      : checkResult('IdleClosed', `${what} was closed after ${seconds} s without traffic.`);
  }
  if (asked === TIMED_OUT) {
    const message = `${what} is open after ${idleMs / 1000} s without traffic, but nothing answers on it.`;
    return checkResult('IdleDropped', message);
  }
  return asked === undefined
    ? checkResult(
        'IdleWorks',
        `${what} is open after ${idleMs / 1000} s. Its server cannot be probed.`,
      )
    : checkResult('IdleWorks', `${what} answers after ${idleMs / 1000} s without traffic.`);
}

/** Opens the connection: with HTTP/2 for its pings if the server supports it, otherwise with HTTP/1.1. */
async function begin(checkup: Checkup): Promise<Conversation | NoConversation> {
  const { edge, served, httpHost, limits } = checkup;
  const [host] = served;
  const connection = await EdgeConnection.open(edge, { serverName: host }, limits);
  const { handshake } = connection;
  if (handshake.kind !== 'secured') {
    return { host, why: handshakeText(handshake, limits.timeoutMs) };
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
        ask: async () => {
          connection.send(PING_REQUEST);
          return answered(await connection.waitFor(hasPingAck, limits));
        },
      };
    }
    isOpen = settings !== 'ended';
  }
  if (httpHost === undefined && isOpen) return { host, connection };
  connection[Symbol.dispose]();
  return httpHost === undefined
    ? { host, why: 'closed the connection at its start' }
    : beginHttp1(checkup, httpHost);
}

async function beginHttp1(
  { edge, limits }: Checkup,
  host: string,
): Promise<Conversation | NoConversation> {
  const connection = await openHttp(edge, host, limits);
  const { handshake } = connection;
  if (handshake.kind !== 'secured') {
    return { host, why: handshakeText(handshake, limits.timeoutMs) };
  }
  const ask = async () => {
    connection.send(versionRequest(host));
    const response = await connection.receive(firstResponse, limits);
    if (typeof response === 'object') connection.drop(response.bytes);
    return answered(response);
  };
  if ((await ask()) === 'answered') return { host, connection, ask };
  connection[Symbol.dispose]();
  return { host, why: 'did not answer the first request' };
}

function answered(response: unknown): 'answered' | 'ended' | typeof TIMED_OUT {
  return response === 'ended' || response === TIMED_OUT ? response : 'answered';
}
