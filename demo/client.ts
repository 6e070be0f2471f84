/**
 * Clients of an API server: those that dial its name, and pods, that dial an address.
 */
import { once } from 'node:events';
import { checkServerIdentity, connect } from 'node:tls';
import { readHttpAnswer } from '../src/probe/http-answer.ts';
import type { Credential } from '../world/cluster/pki.ts';
import { SERVICE_ADDRESS, type Tenant } from './stage/tenant.ts';

/** A client that trusts the CA of its tenant and nobody else. */
export interface Client {
  readonly tenant: Tenant;
  /** Where its connection ends up, on loopback. */
  readonly port: number;
  /** What it believes to dial: a name, which its hello then carries, or an address, which no hello can carry. */
  readonly dials: string;
  readonly shows: { readonly token: string } | { readonly certificate: Credential };
}

/** What became of a request: an answer of the API server, or the reason why there is none. */
export type Outcome =
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown }
  | { readonly kind: 'refused'; readonly why: string };

const TIMEOUT_MS = 5000;

/** A client that dials the tenant's name, at the shared address, as its administrator. */
export function administrator(tenant: Tenant, port: number): Client {
  return { tenant, port, dials: tenant.host, shows: { certificate: tenant.admin } };
}

/** A pod, whose connection kube-proxy leads to this port. */
export function pod(tenant: Tenant, port: number, shows: 'token' | 'certificate'): Client {
  const { token, certificate } = tenant.pod;
  const credentials = shows === 'token' ? { token } : { certificate };
  return { tenant, port, dials: SERVICE_ADDRESS, shows: credentials };
}

/** The namespaces that the client sees. */
export async function namespacesSeenBy(client: Client): Promise<Outcome> {
  return request(client, 'GET', '/api/v1/namespaces');
}

/** What `kubectl auth whoami` asks. */
export async function whoIs(client: Client): Promise<Outcome> {
  return request(client, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews');
}

/** HTTP by hand: other clients take a name for the hello from the URL, and here there may be none. */
async function request(client: Client, method: string, path: string): Promise<Outcome> {
  const { tenant, port, dials, shows } = client;
  const socket = connect({
    host: '127.0.0.1',
    port,
    ca: tenant.ca,
    servername: dials === SERVICE_ADDRESS ? '' : dials,
    checkServerIdentity: (_, certificate) => checkServerIdentity(dials, certificate),
    ...('token' in shows
      ? {}
      : { cert: shows.certificate.certificate, key: shows.certificate.key }),
  });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`silent for ${TIMEOUT_MS} ms`)));
  try {
    await once(socket, 'secureConnect');
    const authorization = 'token' in shows ? `authorization: Bearer ${shows.token}\r\n` : '';
    // In HTTP/1.0 the answer ends where the connection does.
    socket.write(`${method} ${path} HTTP/1.0\r\nhost: ${dials}\r\n${authorization}\r\n`);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const answer = readHttpAnswer(Buffer.concat(chunks), true);
    if (typeof answer !== 'object') return { kind: 'refused', why: 'the connection was closed' };
    return { kind: 'answered', status: answer.status, body: JSON.parse(answer.body) };
  } catch (error) {
    return { kind: 'refused', why: reasonOf(error) };
  } finally {
    socket.destroy();
  }
}

/** An alert of TLS has its name in the code: ERR_SSL_TLSV1_UNRECOGNIZED_NAME. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const [, alert] = /^ERR_SSL_(?:TLSV1|SSLV3)_(?:ALERT_)?(\w+)$/.exec(code ?? '') ?? [];
  return alert === undefined ? message : `alert ${alert.toLowerCase()}`;
}
