/**
 * How to reach an API server and as whom: what a kubeconfig says, without its indirections.
 */

/** A program that prints credentials, as client.authentication.k8s.io describes it. */
export interface ExecPlugin {
  readonly apiVersion: string;
  /** A name to be found in $PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** On top of the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether it is told the server and its CA. */
  readonly provideClusterInfo: boolean;
  /** What the kubeconfig's cluster keeps for such a program; goes with the cluster information. */
  readonly clusterConfig?: unknown;
  /** What to say to somebody who does not have it. */
  readonly installHint?: string | undefined;
}

/** Who the caller is. */
export type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'certificate'; readonly cert: string; readonly key: string }
  | { readonly kind: 'token'; readonly token: string }
  /** Read again and again: whoever writes it may replace it at any time. */
  | { readonly kind: 'token-file'; readonly path: string }
  | { readonly kind: 'exec'; readonly plugin: ExecPlugin };

/** A server, how to know it, and who asks. */
export interface ClusterAccess {
  /** As `https://10.0.0.1:6443`, perhaps with a path, without a slash at its end. */
  readonly server: string;
  /** The name that its certificate must have and that it is asked for. Default: the host of `server`. */
  readonly serverName?: string | undefined;
  /** PEM. Default: the roots of the system. */
  readonly ca?: string | undefined;
  readonly credentials: Credentials;
  /** Where objects are when nothing else is said. */
  readonly namespace: string;
}

/** Where else to find the same server. */
export interface Aim {
  readonly server: string;
  readonly serverName?: string | undefined;
}

/**
 * The same access by another address, as of a tenant by its Service. Without a `serverName` the certificate must have
 * the name that it had to have before.
 */
export function aimed(access: ClusterAccess, { server, serverName }: Aim): ClusterAccess {
  return {
    ...access,
    server: withoutSlash(server),
    serverName: serverName ?? access.serverName ?? hostOf(access.server),
  };
}

/** The host of a server's address; an IPv6 address without its brackets, as certificates have it. */
export function hostOf(server: string): string {
  return new URL(server).hostname.replace(/^\[|\]$/g, '');
}

/** As {@link ClusterAccess.server} wants it. */
export function withoutSlash(server: string): string {
  return server.replace(/\/+$/, '');
}

/**
 * The codes:
 * - `AccessMissing`, `AccessInvalid`: a kubeconfig that is not there, or says nothing that can be used
 * - `AccessRefused`: it can be read, and asks for what Snicket does not do
 * - `NotInCluster`: no pod's credentials here
 */
export type AccessErrorCode = 'AccessMissing' | 'AccessInvalid' | 'AccessRefused' | 'NotInCluster';

/** Why there is no access. The message says what to do, and holds no credential. */
export class AccessError extends Error {
  override readonly name = 'AccessError';
  readonly code: AccessErrorCode;

  constructor(code: AccessErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
