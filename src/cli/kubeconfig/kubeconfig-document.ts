/**
 * A tenant's kubeconfig, aimed at the edge. Who the user is stays as it was, programs that fetch credentials included: they
 * run where the kubeconfig is used, and not here.
 */
import { parse } from 'yaml';
import { AccessError } from '../../kube/access/cluster-access.ts';
import { readKubeconfig } from '../../kube/access/kubeconfig-document.ts';
import { yamlText } from '../../manifests/yaml-text.ts';

/** What it is made from. */
export interface EdgeKubeconfigInput {
  /** The administrator's, as the provider wrote it. */
  readonly text: string;
  /** Of its cluster, user and context. */
  readonly name: string;
  /** `https://tenants-blue.k8s.example.com:443`. */
  readonly server: string;
  /** The name by which the edge knows the tenant; needed where `server` has an address. */
  readonly serverName?: string | undefined;
  /** The CA of the tenant, PEM. Default: that of the kubeconfig. */
  readonly ca?: string | undefined;
}

/** The kubeconfig, and what a person has to know of it. */
export interface EdgeKubeconfig {
  /** YAML. It holds a secret. */
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

/** The fields of a user that name files, which are on some other machine. */
const FILE_FIELDS = ['client-certificate', 'client-key', 'tokenFile'] as const;

const ORIGIN = { name: "the tenant's kubeconfig" } as const;

/** The same user by another way. @throws AccessError, which quotes nothing of the text but names */
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
      `${ORIGIN.name} has no certificate-authority-data, and nothing is known of the tenant's CA; write spec.controlPlane.caSecretRef`,
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

/** What the current context leads to, with every field that it has. */
function currentIn(text: string): Current {
  const { currentContext: current, contexts, clusters, users } = readKubeconfig(text, ORIGIN);
  const context = contexts.get(current ?? '');
  if (context === undefined) {
    const known = [...contexts.keys()].join(', ') || 'none';
    throw invalid(`has no context "${current ?? ''}", which is its current one; it has: ${known}`);
  }
  const { cluster, user = '' } = context.value;
  if (!clusters.has(cluster)) throw invalid(`has no cluster "${cluster}"`);
  if (!users.has(user)) throw invalid(`has no user "${user}"`);
  // It has been read above, so that this is what it is; but there, what nobody here looks at was left out.
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
    `${ORIGIN.name} ${what}; compare it with \`kubectl config view\``,
  );
}

/** It may be what this machine needs, or what only the provider's did. A password may be in it. */
function proxyWarnings({ 'proxy-url': proxy }: Fields): readonly string[] {
  if (typeof proxy !== 'string' || proxy === '') return [];
  const host = URL.parse(proxy)?.host ?? '';
  return [`the kubeconfig has a proxy-url (${host}): kubectl reaches the edge by that proxy alone`];
}

function fileWarnings(user: Fields): readonly string[] {
  return FILE_FIELDS.flatMap((field) => {
    const path = user[field];
    return typeof path === 'string' && path !== ''
      ? `the kubeconfig names the file ${path} as ${field}: it works only where that file is`
      : [];
  });
}
