/** Clients of an API server. Some dial its name; pods dial an address. */
import { once } from 'node:events';
import { checkServerIdentity, connect } from 'node:tls';
import { readHttpResponse } from '../src/probe/http-response.ts';
import type { Credential } from '../world/cluster/pki.ts';
import { SERVICE_ADDRESS, type Tenant } from './stage/tenant.ts';

/** A client that trusts only the CA of its tenant. */
export interface Client {
  readonly tenant: Tenant;
  /** Port on loopback that it connects to. */
  readonly port: number;
  /** The host that the client requests. A ClientHello contains it if it is a name, but not if it is an address. */
  readonly host: string;
  readonly credentials: { readonly token: string } | { readonly certificate: Credential };
}

/** Result of a request: the response of the API server, or the reason of the failure. */
export type Outcome =
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown }
  | { readonly kind: 'refused'; readonly reason: string };

const TIMEOUT_MS = 5000;

/** Returns a client that dials the tenant's name at the shared address, as its administrator. */
export function administrator(tenant: Tenant, port: number): Client {
  return { tenant, port, host: tenant.host, credentials: { certificate: tenant.admin } };
}

/** Returns a pod whose connections kube-proxy forwards to this port. */
export function pod(tenant: Tenant, port: number, shows: 'token' | 'certificate'): Client {
  const { token, certificate } = tenant.pod;
  const credentials = shows === 'token' ? { token } : { certificate };
  return { tenant, port, host: SERVICE_ADDRESS, credentials };
}

/** Lists the namespaces as the client. */
export async function namespacesSeenBy(client: Client): Promise<Outcome> {
  return request(client, 'GET', '/api/v1/namespaces');
}

/** Sends the request of `kubectl auth whoami`. */
export async function whoAmI(client: Client): Promise<Outcome> {
  return request(client, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews');
}

/** Sends a request without an HTTP library, because libraries copy the host of the URL to the ClientHello. */
async function request(client: Client, method: string, path: string): Promise<Outcome> {
  const { tenant, port, host, credentials } = client;
  const socket = connect({
    host: '127.0.0.1',
    port,
    ca: tenant.ca,
    servername: host === SERVICE_ADDRESS ? '' : host,
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
    ...('token' in credentials
      ? {}
      : { cert: credentials.certificate.certificate, key: credentials.certificate.key }),
  });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`silent for ${TIMEOUT_MS} ms`)));
  try {
    await once(socket, 'secureConnect');
    const authorization =
      'token' in credentials ? `authorization: Bearer ${credentials.token}\r\n` : '';
    // In HTTP/1.0, the response ends with the connection.
    socket.write(`${method} ${path} HTTP/1.0\r\nhost: ${host}\r\n${authorization}\r\n`);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const response = readHttpResponse(Buffer.concat(chunks), true);
    if (typeof response !== 'object')
      return { kind: 'refused', reason: 'the connection was closed' };
    return { kind: 'answered', status: response.status, body: JSON.parse(response.body) };
  } catch (error) {
    return { kind: 'refused', reason: reasonOf(error) };
  } finally {
    socket.destroy();
  }
}

/** Returns the reason of an error. The error code of a TLS alert contains its name: ERR_SSL_TLSV1_UNRECOGNIZED_NAME. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const [, alert] = /^ERR_SSL_(?:TLSV1|SSLV3)_(?:ALERT_)?(\w+)$/.exec(code ?? '') ?? [];
  return alert === undefined ? message : `alert ${alert.toLowerCase()}`;
}
