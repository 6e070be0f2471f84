/**
 * Reads `/readyz` of a proxy on this node. Uses a plain socket: fetch() would use $http_proxy, follow redirects, and
 * read responses of any size, and any process on the node may listen there.
 */
import type { Socket } from 'node:net';
import { addressText, dialTcp, errorCode } from './dial.ts';
import type { ProxyHealth } from './hops/node-proxy.ts';
import { readHttpAnswer, type HttpAnswer } from './http-answer.ts';
import { inTime, TIMED_OUT, type Limits } from './limits.ts';

/** The maximum of bytes read: enough for the head and a sentence. */
const MAX_BYTES = 4096;
/** The maximum length of the reported message. */
const MAX_SAID = 300;

/** Requests the health once. @throws the reason of the caller's signal. */
export async function askHealth(
  address: string,
  port: number,
  limits: Limits,
): Promise<ProxyHealth> {
  const at = addressText(address, port);
  const unready = (said: string) => ({ at, isReady: false, said });
  try {
    const answer = await inTime(limits, async (signal) =>
      ask(await dialTcp(address, port, signal), at, signal),
    );
    if (answer === TIMED_OUT) return unready(`no answer at ${at} in ${limits.timeoutMs} ms`);
    if (answer === undefined) return unready(`no answer at ${at}: the connection ended`);
    if (answer === 'notHttp') return unready(`what answers at ${at} does not speak HTTP/1`);
    return { at, ...wordsOf(answer) };
  } catch (error) {
    limits.signal?.throwIfAborted();
    const code = errorCode(error);
    if (code === '') throw error;
    return unready(`no answer at ${at} (${code})`);
  }
}

function wordsOf({ status, body }: HttpAnswer): Pick<ProxyHealth, 'isReady' | 'said'> {
  const isReady = status >= 200 && status < 300;
  const said = body.trim().slice(0, MAX_SAID);
  const hasReason = isReady || status >= 400;
  return { isReady, said: hasReason && said !== '' ? said : `/readyz answers ${status}` };
}

/** Returns the response, or undefined if nothing was received. */
async function ask(
  socket: Socket,
  at: string,
  signal: AbortSignal,
): Promise<HttpAnswer | 'notHttp' | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer | 'notHttp' | undefined>();
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    const answer = readHttpAnswer(bytes.subarray(0, MAX_BYTES), bytes.length >= MAX_BYTES);
    if (answer !== undefined) resolve(answer);
  });
  socket.on('error', reject);
  socket.once('close', () =>
    resolve(bytes.length === 0 ? undefined : readHttpAnswer(bytes.subarray(0, MAX_BYTES), true)),
  );
  const onAbort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  socket.write(`GET /readyz HTTP/1.1\r\nHost: ${at}\r\nUser-Agent: snicket\r\n\r\n`);
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
  }
}
