/**
 * Measures the CPU time of a client per request to an API server, with `fetch` and with HTTP/2: `bun
 * bench/kube-requests.ts`. The server is a separate process, so that only the CPU time of the client counts.
 */
import { createClient } from '../src/kube/client/fetch-client.ts';
import type { KubeClient } from '../src/kube/client/client.ts';
import { RESOURCES } from '../src/kube/resource.ts';
import { Http2RoundTripper } from '../src/kube/transport/http2/http2-round-tripper.ts';
import { TestAuthority } from '../src/net/testing/certificates.ts';

const REQUESTS = 3_000;
const WARM_UP = 500;
const CONCURRENCY = 16;
const ROUNDS = 3;
const KEY = { name: 'tenant', namespace: 'tenants' };
const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { ...KEY, resourceVersion: '1', uid: '1' },
  data: { kubeconfig: 'a'.repeat(3_000) },
};

/** Message from the server process when it is ready. */
interface ServerReady {
  readonly port: number;
  readonly ca: string;
}

if (process.argv[2] === 'serve') await serve();
else await measure();

async function serve(): Promise<void> {
  const authority = await TestAuthority.create();
  const { cert, key } = await authority.issue({ names: ['127.0.0.1'] });
  const { port = 0 } = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    http2: true,
    tls: { cert, key },
    fetch: () => Response.json(SECRET, { headers: { 'audit-id': '1' } }),
  });
  process.on('disconnect', () => process.exit());
  process.send?.({ port, ca: authority.cert } satisfies ServerReady);
}

async function measure(): Promise<void> {
  const { promise: ready, resolve } = Promise.withResolvers<ServerReady>();
  const server = Bun.spawn([process.execPath, import.meta.path, 'serve'], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message) => resolve(message as ServerReady),
  });
  const { port, ca } = await ready;
  const access = {
    server: `https://127.0.0.1:${port}`,
    serverName: undefined,
    ca,
    credentials: { kind: 'token', token: 'bench' },
    namespace: 'default',
  } as const;
  const clients = {
    'fetch (HTTP/1.1)': createClient(access),
    'HTTP/2': createClient(access, { roundTripper: new Http2RoundTripper(access) }),
  };
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [name, client] of Object.entries(clients)) {
      await get(client, WARM_UP);
      const before = process.cpuUsage();
      await get(client, REQUESTS);
      const { user, system } = process.cpuUsage(before);
      const microseconds = (user + system) / REQUESTS;
      console.log(
        `${name.padEnd(16)}  ${microseconds.toFixed(0)} us of processor time per request`,
      );
    }
  }
  server.kill();
  process.exit();
}

async function get(client: KubeClient, requests: number): Promise<void> {
  let remaining = requests;
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (remaining-- > 0) await client.get(RESOURCES.secret, KEY);
    }),
  );
}
