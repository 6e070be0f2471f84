/**
 * For tests only: the responses of API servers to unauthenticated requests for /version. Recorded from kube-apiserver
 * v1.36.3, without and with `--anonymous-auth=false`.
 */
import type { TLSSocket } from 'node:tls';

/** The response with anonymous access, by the default rules. */
export const VERSION_RESPONSE = httpText(
  '200 OK',
  {
    'Audit-Id': '7b21b3ed-914a-4361-9896-d902415a28a1',
    'Cache-Control': 'no-cache, private',
    'Content-Type': 'application/json',
    'X-Kubernetes-Pf-Flowschema-Uid': '37a884d2-facd-4b22-b7f4-4f764465fc6f',
  },
  '{\n  "major": "1",\n  "minor": "36",\n  "gitVersion": "v1.36.3",\n  "goVersion": "go1.26.8"\n}',
);

/** The response without anonymous access. */
export const UNAUTHORIZED_RESPONSE = httpText(
  '401 Unauthorized',
  {
    'Audit-Id': 'd928f625-192d-448a-9113-f99e70563b8d',
    'Cache-Control': 'no-cache, private',
    'Content-Type': 'application/json',
  },
  '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}\n',
);

/** Returns an HTTP/1.1 response. */
export function httpText(
  status: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const lines = Object.entries({ ...headers, 'Content-Length': Buffer.byteLength(body) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status}\r\n${head}\r\n${body}`;
}

/** Returns a handler that answers the first bytes of a client with this text. */
export function respondWith(text: string): (socket: TLSSocket) => void {
  return (socket) => {
    neverRespond(socket);
    socket.once('data', () => socket.write(text));
  };
}

/** Handles a connection by never responding. Closes when the client does. */
export function neverRespond(socket: TLSSocket): void {
  socket.on('end', () => socket.end());
  socket.resume();
}
