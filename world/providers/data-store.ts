import { join } from 'node:path';
import { Authority, writeCredential, type Credential } from '../cluster/pki.ts';
import type { Daemon } from '../machine/daemon.ts';
import { program } from '../parts/parts.ts';
import type { NetworkHost } from '../world.ts';

/** Name of the DataStore of each provider, and of its Secret. */
export const DATA_STORE = 'default';

/** The etcd for all tenants of a provider. Each tenant has its own prefix and user. */
export interface Etcd {
  readonly daemon: Daemon;
  /** ADDRESS:PORT, with TLS. */
  readonly endpoint: string;
  readonly authority: Credential;
  /** The provider's own client certificate. It creates users and grants them permissions. */
  readonly root: Credential;
}

/** Starts an etcd that authenticates clients by their certificates. */
export async function startEtcd(machine: NetworkHost): Promise<Etcd> {
  const { host, address } = machine;
  const authority = await Authority.create('etcd-ca', { keyType: 'rsa' });
  const pki = join(host.folder, 'files', 'etcd');
  const serving = await authority.issue({ commonName: 'etcd', names: [address] });
  const { certificate, key } = writeCredential(pki, 'server', serving);
  const trusted = writeCredential(pki, 'ca', authority);
  await createUsers(machine);
  const endpoint = `${address}:2379`;
  const daemon = await host.start('etcd', [
    ...etcdCommand(machine, `https://${endpoint}`),
    '--client-cert-auth',
    `--trusted-ca-file=${trusted.certificate}`,
    `--cert-file=${certificate}`,
    `--key-file=${key}`,
  ]);
  return { daemon, endpoint, authority, root: await authority.issue({ commonName: 'root' }) };
}

/**
 * Creates the users of an etcd while it runs without TLS. With both kinds of listeners, etcd 3.7 connects its HTTP
 * gateway to a random one, and the TLS listener refuses the gateway because of its certificate.
 */
async function createUsers(machine: NetworkHost): Promise<void> {
  const url = 'http://127.0.0.1:2379';
  const daemon = await machine.host.start('etcd-setup', etcdCommand(machine, url));
  await machine.host.exec([process.execPath, join(import.meta.dir, 'etcd-auth.ts'), url]);
  await daemon.terminate();
}

function etcdCommand({ host }: NetworkHost, clientUrl: string): string[] {
  return [
    program('etcd'),
    `--data-dir=${join(host.folder, 'etcd')}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    '--listen-peer-urls=http://127.0.0.1:2380',
  ];
}

/** Returns the DataStore of an etcd, its Secret and the namespace of the Secret. */
export function dataStoreObjects(
  group: string,
  namespace: string,
  etcd: Pick<Etcd, 'endpoint' | 'authority' | 'root'>,
): [namespace: object, secret: object, dataStore: object] {
  const reference = (keyPath: string) => ({
    secretReference: { name: DATA_STORE, namespace, keyPath },
  });
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: DATA_STORE, namespace },
      stringData: {
        'ca.crt': etcd.authority.certificate,
        'ca.key': etcd.authority.key,
        'tls.crt': etcd.root.certificate,
        'tls.key': etcd.root.key,
      },
    },
    {
      apiVersion: `${group}/v1alpha1`,
      kind: 'DataStore',
      metadata: { name: DATA_STORE },
      spec: {
        driver: 'etcd',
        endpoints: [etcd.endpoint],
        tlsConfig: {
          certificateAuthority: {
            certificate: reference('ca.crt'),
            privateKey: reference('ca.key'),
          },
          clientCertificate: {
            certificate: reference('tls.crt'),
            privateKey: reference('tls.key'),
          },
        },
      },
    },
  ];
}
