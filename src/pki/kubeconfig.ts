/** Writes a kubeconfig with one cluster and one user. All data is inline. */
import { yamlText } from '../manifests/yaml-text.ts';

/** The credentials of the user: a token, or a client certificate and its key as PEM. */
export type KubeconfigCredentials =
  | { readonly token: string }
  | { readonly certificate: string; readonly key: string };

interface KubeconfigContent {
  /** URL such as `https://tenant-a.k8s.example.com:443`. */
  readonly server: string;
  /** CA certificates as PEM. */
  readonly ca: string;
  /** The name that the server's certificate must have, also used as SNI. Default: the host of `server`. */
  readonly serverName?: string | undefined;
  readonly credentials: KubeconfigCredentials;
  /** The names of the entries. */
  readonly names: {
    readonly cluster: string;
    readonly user: string;
    /** Default `<user>@<cluster>`, as in kubeadm. */
    readonly context?: string | undefined;
    /** Default namespace of commands. Default: that of kubectl. */
    readonly namespace?: string | undefined;
  };
}

/** Returns the kubeconfig as YAML. It contains a secret. */
export function writeKubeconfig(content: KubeconfigContent): string {
  const { server, ca, serverName, names } = content;
  const { cluster, user, context = `${user}@${cluster}`, namespace } = names;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: cluster,
        cluster: {
          server,
          'tls-server-name': serverName,
          'certificate-authority-data': base64(ca),
        },
      },
    ],
    users: [{ name: user, user: userFields(content.credentials) }],
    contexts: [{ name: context, context: { cluster, user, namespace } }],
    'current-context': context,
  };
  return yamlText(config);
}

function userFields(credentials: KubeconfigCredentials): Readonly<Record<string, string>> {
  if ('token' in credentials) return { token: credentials.token };
  return {
    'client-certificate-data': base64(credentials.certificate),
    'client-key-data': base64(credentials.key),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
