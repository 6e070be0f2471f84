/**
 * api: a kube-apiserver responds to a request through the edge, on a connection that is verified as by every client.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { quoted } from '../../text/quote.ts';
import { addressText, errorCode, type Dial } from '../dial.ts';
import { hopResult, type HopResult } from '../hop.ts';
import { readHttpResponse, type HttpResponse } from '../http-response.ts';
import { withTimeout, TIMED_OUT, type Limits } from '../limits.ts';
import { connectTls, type SecuredConnection } from '../tls/handshake.ts';

/** The API server to check. */
interface ApiTarget {
  readonly host: string;
  /** The IP address of the edge. */
  readonly address: string;
  readonly port: number;
  /** PEM. */
  readonly tenantCa: string;
}

/** Offered with ALPN. One request needs no other protocol. */
export const API_PROTOCOL = 'http/1.1';

/** A response, or a clause that says why there is none. */
type ApiOutcome = HttpResponse | 'notHttp' | { readonly why: string };

/**
 * Readable without credentials by the default rules of Kubernetes. Where it is not, the rejection shows an API server
 * too.
 */
const PATH = '/version';

/**
 * Sends one request without credentials: on an open, verified connection to the target if there is one, otherwise on a
 * new connection.
 *
 * @throws only the reason of the caller's signal.
 */
export async function probeApi(
  target: ApiTarget,
  dial: Dial,
  limits: Limits,
  open?: SecuredConnection,
): Promise<HopResult> {
  const response = await withTimeout(limits, async (signal): Promise<ApiOutcome> => {
    if (open !== undefined && canCarryRequest(open)) {
      const first = await withCode(async () => requestVersion(open, target, signal));
      // If there is no response, the server may have closed the connection while others were opened.
      if (first === 'notHttp' || !('why' in first)) return first;
    }
    return withCode(async () => {
      const socket = await dial(target.address, target.port, signal);
      return requestVersion(connectVerified(socket, target), target, signal);
    });
  });
  const late = { why: `timeout after ${limits.timeoutMs} ms` };
  return judgeApi(target, response === TIMED_OUT ? late : response);
}

/** Returns the result for a response. */
export function judgeApi(
  { host, port, address }: Omit<ApiTarget, 'tenantCa'>,
  response: ApiOutcome,
): HopResult {
  const target = `https://${host}:${port}${PATH}`;
  const values = { host };
  if (response === 'notHttp') {
    const message = `Host ${host} does not answer in HTTP/1, so it is not a kube-apiserver.`;
    return hopResult('api', 'NotKubernetes', target, message);
  }
  if ('why' in response) {
    const message = `Host ${host} at ${addressText(address, port)} did not answer the request: ${response.why}.`;
    return hopResult('api', 'ApiUnhealthy', target, message, values);
  }
  const { status, headers, body } = response;
  const { isStatus, version } = kubernetesFields(body);
  // Every response of an API server has an Audit-Id, and its errors are Status objects.
  if (!headers.has('audit-id') && !isStatus) {
    const server = quoted(
      headers.get('server') ?? headers.get('content-type') ?? 'no server header',
    );
    const message = `Host ${host} answers ${status} (${server}), so it is not a kube-apiserver.`;
    return hopResult('api', 'NotKubernetes', target, message);
  }
  if (status >= 500) {
    return hopResult('api', 'ApiUnhealthy', target, `The API server answers ${status}.`, values);
  }
  const message =
    version === undefined
      ? `An API server answers ${status} to anonymous requests.`
      : `The API server (kube-apiserver ${quoted(version)}) answers.`;
  return hopResult('api', 'Passed', target, message);
}

/** Returns the response, or the system or TLS error code if there is none. @throws any other error */
async function withCode(call: () => Promise<ApiOutcome>): Promise<ApiOutcome> {
  try {
    return await call();
  } catch (error) {
    const code = errorCode(error);
    if (code === '') throw error;
    return { why: code };
  }
}

function canCarryRequest({ tls, isVerified }: SecuredConnection): boolean {
  return isVerified && !tls.destroyed && tls.alpnProtocol !== 'h2';
}

/** Connects and verifies the server during the handshake. */
function connectVerified(socket: Socket, { host, tenantCa }: ApiTarget): SecuredConnection {
  const tls = connectTls(socket, {
    servername: host,
    ca: tenantCa,
    rejectUnauthorized: true,
    ALPNProtocols: [API_PROTOCOL],
  });
  const close = () => {
    tls.destroy();
    socket.destroy();
  };
  return { tls, isVerified: false, close };
}

async function requestVersion(
  { tls, isVerified, close }: SecuredConnection,
  { host, port }: ApiTarget,
  signal: AbortSignal,
): Promise<ApiOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<ApiOutcome>();
  const onAbort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  const send = () => {
    if (namesHost(tls, host)) tls.write(request(host, port));
    else resolve({ why: `the certificate has no alternative name ${host}` });
  };
  let bytes = Buffer.alloc(0);
  tls.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    const response = readHttpResponse(bytes, false);
    if (response !== undefined) resolve(response);
  });
  tls.on('error', reject);
  tls.once('close', () => {
    const response = bytes.length === 0 ? undefined : readHttpResponse(bytes, true);
    resolve(response ?? { why: 'the connection was closed' });
  });
  if (isVerified) send();
  else tls.once('secureConnect', send);
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    close();
  }
}

/**
 * Returns the request, with keep-alive: the exchange is over when the response has arrived. If both sides closed at
 * once, one of them would get a reset, which an edge counts as a failure of the tenant.
 */
function request(host: string, port: number): string {
  const lines = [`GET ${PATH} HTTP/1.1`, `Host: ${host}:${port}`, 'User-Agent: snicket'];
  return `${[...lines, 'Accept: application/json'].join('\r\n')}\r\n\r\n`;
}

/** Node accepts the common name if there is no alternative name. Go, and so every client of Kubernetes, does not. */
function namesHost(tls: TLSSocket, host: string): boolean {
  return tls.getPeerX509Certificate()?.checkHost(host, { subject: 'never' }) !== undefined;
}

/** Returns the parts of a body that only an API server sends. */
function kubernetesFields(body: string): {
  readonly isStatus: boolean;
  readonly version: string | undefined;
} {
  const value = jsonIn(body);
  if (typeof value !== 'object' || value === null) return { isStatus: false, version: undefined };
  const isStatus =
    'kind' in value &&
    value.kind === 'Status' &&
    'apiVersion' in value &&
    value.apiVersion === 'v1';
  const version =
    'gitVersion' in value && typeof value.gitVersion === 'string' ? value.gitVersion : undefined;
  return { isStatus, version };
}

function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    // An API server responds in JSON. Other content needs no further detail.
    return undefined;
  }
}
