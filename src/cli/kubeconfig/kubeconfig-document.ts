/**
 * A tenant's kubeconfig with the edge as its server. The user stays unchanged, including exec plugins, which run where
 * the kubeconfig is used.
 */
import { parse } from 'yaml';
import { AccessError } from '../../kube/access/cluster-access.ts';
import { readKubeconfig } from '../../kube/access/kubeconfig-document.ts';
import { yamlText } from '../../manifests/yaml-text.ts';

/** Input of {@link edgeKubeconfig}. */
export interface EdgeKubeconfigInput {
  /** The administrator's kubeconfig, as the provider wrote it. */
  readonly text: string;
  /** The name of the cluster, the user and the context. */
  readonly name: string;
  /** `https://tenants-blue.k8s.example.com:443`. */
  readonly server: string;
  /** The host by which the edge routes to the tenant; required if `server` has an IP address. */
  readonly serverName?: string | undefined;
  /** The CA of the tenant, PEM. Default: that of the kubeconfig. */
  readonly ca?: string | undefined;
}

/** The kubeconfig, and warnings about it. */
interface EdgeKubeconfig {
  /** YAML, which contains a secret. */
  readonly text: string;
  readonly warnings: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;
interface Named {
  readonly name: string;
}
interface Document {
  readonly 'current-context'?: string;
  readonly contexts?: readonly (Named & { readonly context: Fields })[];
  readonly clusters?: readonly (Named & { readonly cluster: Fields })[];
  readonly users?: readonly (Named & { readonly user?: Fields | null })[];
}

/** The fields of a user that name files, which are on another machine. */
const FILE_FIELDS = ['client-certificate', 'client-key', 'tokenFile'] as const;

const ORIGIN = { name: "the tenant's kubeconfig" } as const;

/**
 * Returns a kubeconfig for the same user that uses the edge.
 *
 * @throws AccessError, whose message quotes nothing but names from the text
 */
export function edgeKubeconfig(input: EdgeKubeconfigInput): EdgeKubeconfig {
  const { context, cluster, user } = currentIn(input.text);
  const { name, server, serverName } = input;
  const {
    'certificate-authority-data': ownCa,
    'certificate-authority': _file,
    'insecure-skip-tls-verify': _insecure,
    'tls-server-name': _name,
    server: _server,
    ...rest
  } = cluster;
  const ca = input.ca === undefined ? ownCa : Buffer.from(input.ca).toString('base64');
  if (typeof ca !== 'string' || ca === '') {
    throw new AccessError(
      'AccessInvalid',
      `${ORIGIN.name} has no certificate-authority-data and the CA of the tenant is unknown; set spec.controlPlane.caSecretRef`,
    );
  }
  const { namespace } = context;
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: {
          server,
          ...(serverName !== undefined && { 'tls-server-name': serverName }),
          'certificate-authority-data': ca,
          ...rest,
        },
      },
    ],
    users: [{ name, user }],
    contexts: [
      { name, context: { cluster: name, user: name, ...(Boolean(namespace) && { namespace }) } },
    ],
    'current-context': name,
  };
  return { text: yamlText(document), warnings: [...proxyWarnings(rest), ...fileWarnings(user)] };
}

interface Current {
  readonly context: Fields;
  readonly cluster: Fields;
  readonly user: Fields;
}

/** Returns the current context, its cluster and its user, with all their fields. */
function currentIn(text: string): Current {
  const { currentContext: current, contexts, clusters, users } = readKubeconfig(text, ORIGIN);
  const context = contexts.get(current ?? '');
  if (context === undefined) {
    const known = [...contexts.keys()].join(', ') || 'none';
    throw invalid(`has no context "${current ?? ''}", its current-context (contexts: ${known})`);
  }
  const { cluster, user = '' } = context.value;
  if (!clusters.has(cluster)) throw invalid(`has no cluster "${cluster}"`);
  if (!users.has(user)) throw invalid(`has no user "${user}"`);
  // The text was validated above, so that the cast is safe. The validated value lacks fields that Snicket does not use.
  const document = parse(text) as Document;
  const named = <T extends Named>(entries: readonly T[] | undefined, name: string) =>
    entries?.find((entry) => entry.name === name);
  return {
    context: named(document.contexts, context.name)?.context ?? {},
    cluster: named(document.clusters, cluster)?.cluster ?? {},
    user: named(document.users, user)?.user ?? {},
  };
}

function invalid(what: string): AccessError {
  return new AccessError(
    'AccessInvalid',
    `${ORIGIN.name} ${what}; compare it with the output of \`kubectl config view\``,
  );
}

/**
 * Returns a warning about the proxy, which is required here or only on the machine of the provider. Shows the host
 * only, because a password may be in the URL.
 */
function proxyWarnings({ 'proxy-url': proxy }: Fields): readonly string[] {
  if (typeof proxy !== 'string' || proxy === '') return [];
  const host = URL.parse(proxy)?.host ?? '';
  return [
    `the kubeconfig has a proxy-url (${host}): kubectl connects to the edge only through that proxy`,
  ];
}

function fileWarnings(user: Fields): readonly string[] {
  return FILE_FIELDS.flatMap((field) => {
    const path = user[field];
    return typeof path === 'string' && path !== ''
      ? `the kubeconfig references the file ${path} as ${field}: it works only on a machine with that file`
      : [];
  });
}
