/**
 * Reads `/readyz` of a proxy on this node. Uses a plain socket: fetch() would use $http_proxy, follow redirects, and
 * read responses of any size, and any process on the node may listen there.
 */
import type { Socket } from 'node:net';
import { addressText, dialTcp, errorCode } from './dial.ts';
import type { ProxyHealth } from './hops/node-proxy.ts';
import { readHttpResponse, type HttpResponse } from './http-response.ts';
import { withTimeout, TIMED_OUT, type Limits } from './limits.ts';

/** The maximum of bytes read: enough for the head and a sentence. */
const MAX_BYTES = 4096;
/** The maximum length of the reported message. */
const MAX_MESSAGE_LENGTH = 300;

/** Requests the health once. @throws the reason of the caller's signal. */
export async function requestHealth(
  address: string,
  port: number,
  limits: Limits,
): Promise<ProxyHealth> {
  const at = addressText(address, port);
  const unready = (message: string) => ({ at, isReady: false, message });
  try {
    const response = await withTimeout(limits, async (signal) =>
      requestReadyz(await dialTcp(address, port, signal), at, signal),
    );
    if (response === TIMED_OUT) return unready(`no answer at ${at} in ${limits.timeoutMs} ms`);
    if (response === undefined) return unready(`no answer at ${at}: the connection ended`);
    if (response === 'notHttp') return unready(`what answers at ${at} does not speak HTTP/1`);
    return { at, ...healthIn(response) };
  } catch (error) {
    limits.signal?.throwIfAborted();
    const code = errorCode(error);
    if (code === '') throw error;
    return unready(`no answer at ${at} (${code})`);
  }
}

function healthIn({ status, body }: HttpResponse): Pick<ProxyHealth, 'isReady' | 'message'> {
  const isReady = status >= 200 && status < 300;
  const message = body.trim().slice(0, MAX_MESSAGE_LENGTH);
  const hasReason = isReady || status >= 400;
  return { isReady, message: hasReason && message !== '' ? message : `/readyz answers ${status}` };
}

/** Returns the response, or undefined if nothing was received. */
async function requestReadyz(
  socket: Socket,
  at: string,
  signal: AbortSignal,
): Promise<HttpResponse | 'notHttp' | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<
    HttpResponse | 'notHttp' | undefined
  >();
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    const response = readHttpResponse(bytes.subarray(0, MAX_BYTES), bytes.length >= MAX_BYTES);
    if (response !== undefined) resolve(response);
  });
  socket.on('error', reject);
  socket.once('close', () =>
    resolve(bytes.length === 0 ? undefined : readHttpResponse(bytes.subarray(0, MAX_BYTES), true)),
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
