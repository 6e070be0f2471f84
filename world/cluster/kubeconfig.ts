import { writeFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import type { Credential } from './pki.ts';

/** Content of a kubeconfig with one cluster and one user. */
export interface KubeconfigContent {
  /** Shown by kubectl as cluster, user and context. */
  readonly name: string;
  readonly server: string;
  readonly authority: string;
  readonly credential: Credential;
}

/** Returns the text of a kubeconfig with certificates and keys embedded. */
export function kubeconfig(content: KubeconfigContent): string {
  const { name, server, authority, credential } = content;
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(authority) } }],
      users: [
        {
          name,
          user: {
            'client-certificate-data': base64(credential.certificate),
            'client-key-data': base64(credential.key),
          },
        },
      ],
      contexts: [{ name, context: { cluster: name, user: name } }],
      'current-context': name,
    },
    { compat: 'yaml-1.1' },
  );
}

/** Parses a kubeconfig that has one cluster, one user, and certificates and keys embedded. */
export function kubeconfigContent(text: string): KubeconfigContent {
  const { clusters, users } = parse(text) as Kubeconfig;
  const [cluster, user] = [clusters[0], users[0]];
  if (!cluster || !user) throw new Error('a kubeconfig without a cluster or without a user');
  const plain = (base64: string) => Buffer.from(base64, 'base64').toString();
  return {
    name: cluster.name,
    server: cluster.cluster.server,
    authority: plain(cluster.cluster['certificate-authority-data']),
    credential: {
      certificate: plain(user.user['client-certificate-data']),
      key: plain(user.user['client-key-data']),
    },
  };
}

/** Writes a kubeconfig with mode 0600 and returns its path. */
export function writeKubeconfig(path: string, content: KubeconfigContent): string {
  writeFileSync(path, kubeconfig(content), { mode: 0o600 });
  return path;
}

interface Kubeconfig {
  readonly clusters: readonly {
    readonly name: string;
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string };
  }[];
  readonly users: readonly {
    readonly user: {
      readonly 'client-certificate-data': string;
      readonly 'client-key-data': string;
    };
  }[];
}
