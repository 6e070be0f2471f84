/** The environment of the programs under test: a folder, certificates, keys and ports. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Authority } from '../../world/cluster/pki.ts';
import { deriveTenantSecret } from '../../src/wire/tenant-key.ts';

/** Host of the tenant, the server name in every hello. */
export const HOST = 'bench.k8s.test';

/** Below the ephemeral ports, of which the bench uses many. */
const FIRST_PORT = 20_000;
const LAST_PORT = 29_999;

/** Files for the programs under test. */
export interface EnvironmentFiles {
  readonly ca: string;
  /** Certificate and key of the backend, for {@link HOST}. */
  readonly backendCertificate: string;
  readonly backendKey: string;
  /** Certificate and key of a terminating proxy on a worker, for `kubernetes`. */
  readonly leafCertificate: string;
  readonly leafKey: string;
  /** Certificate and key of the proxy in one file, for HAProxy. */
  readonly leafPair: string;
  readonly masterKey: string;
  readonly tenantKey: string;
}

/** The environment. No program runs yet. */
export interface Environment {
  readonly folder: string;
  readonly files: EnvironmentFiles;
  readonly backendPort: number;
  /** The edge behind a worker's proxy: a port that routes by SNI. */
  readonly edgePort: number;
  /** Another port of the edge, which routes by the authority in a PROXY v2 header. */
  readonly edgeProxyPort: number;
}

/** Writes all files into `folder`. */
export async function createEnvironment(folder: string): Promise<Environment> {
  const authority = await Authority.create('bench');
  const backend = await authority.issue({ commonName: HOST, names: [HOST] });
  const leaf = await authority.issue({
    commonName: 'kubernetes',
    names: ['kubernetes', 'kubernetes.default.svc', HOST, '127.0.0.1'],
  });
  const master = randomBytes(32);
  const write = (name: string, content: string) => {
    const path = join(folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  mkdirSync(join(folder, 'nginx'), { recursive: true });
  return {
    folder,
    files: {
      ca: write('ca.crt', authority.certificate),
      backendCertificate: write('backend.crt', backend.certificate),
      backendKey: write('backend.key', backend.key),
      leafCertificate: write('leaf.crt', leaf.certificate),
      leafKey: write('leaf.key', leaf.key),
      leafPair: write('leaf.pem', leaf.certificate + leaf.key),
      masterKey: write('master.key', `${master.toString('base64')}\n`),
      tenantKey: write('tenant.key', `${base64(deriveTenantSecret(master, HOST))}\n`),
    },
    backendPort: freePort(),
    edgePort: freePort(),
    edgeProxyPort: freePort(),
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

let nextPort = FIRST_PORT + Math.floor(Math.random() * 5_000);

/** Returns a free port on loopback. */
export function freePort(): number {
  while (nextPort <= LAST_PORT) {
    const port = nextPort++;
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
  throw new Error(`no free port between ${FIRST_PORT} and ${LAST_PORT} on 127.0.0.1`);
}
