/**
 * A kubeconfig with one cluster and one user, everything inside: no file of it is anywhere else.
 */
import { yamlText } from '../manifests/yaml-text.ts';

/** By what the user is known. */
export type KubeconfigCredentials =
  | { readonly token: string }
  /** PEM. */
  | { readonly certificate: string; readonly key: string };

/** Options of {@link writeKubeconfig}. */
export interface KubeconfigContent {
  /** `https://tenant-a.k8s.example.com:443`. */
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  /** The name that the server's certificate has to have, and that SNI carries. Default: the host of `server`. */
  readonly serverName?: string | undefined;
  readonly credentials: KubeconfigCredentials;
  /** What a person sees. */
  readonly names: {
    readonly cluster: string;
    readonly user: string;
    /** Default `<user>@<cluster>`, as kubeadm has it. */
    readonly context?: string | undefined;
    /** Where commands without a namespace go. Default: that of kubectl. */
    readonly namespace?: string | undefined;
  };
}

/** The kubeconfig as YAML. It holds a secret. */
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
    users: [{ name: user, user: userOf(content.credentials) }],
    contexts: [{ name: context, context: { cluster, user, namespace } }],
    'current-context': context,
  };
  return yamlText(config);
}

function userOf(credentials: KubeconfigCredentials): Readonly<Record<string, string>> {
  if ('token' in credentials) return { token: credentials.token };
  return {
    'client-certificate-data': base64(credentials.certificate),
    'client-key-data': base64(credentials.key),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
