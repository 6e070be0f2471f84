/**
 * How to reach an API server, and with which credentials: the content of a kubeconfig with all references resolved.
 */

/** A credential plugin: a program that prints credentials (client.authentication.k8s.io). */
export interface ExecPlugin {
  readonly apiVersion: string;
  /** A name that is looked up in $PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether the plugin receives the server and its CA. */
  readonly provideClusterInfo: boolean;
  /** The configuration for the plugin in the kubeconfig's cluster. Sent with the cluster information. */
  readonly clusterConfig?: unknown;
  /** The message for users who have not installed the plugin. */
  readonly installHint?: string | undefined;
}

/** The credentials of a client. */
export type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'certificate'; readonly cert: string; readonly key: string }
  | { readonly kind: 'token'; readonly token: string }
  /** Re-read regularly, since the file may be replaced at any time. */
  | { readonly kind: 'token-file'; readonly path: string }
  | { readonly kind: 'exec'; readonly plugin: ExecPlugin };

/** A server, how to verify it, and the credentials to send. */
export interface ClusterAccess {
  /** For example `https://10.0.0.1:6443`, optionally with a path, without a trailing slash. */
  readonly server: string;
  /** The name that its certificate must have, also sent as SNI. Default: the host of `server`. */
  readonly serverName?: string | undefined;
  /** PEM. Default: the root certificates of the system. */
  readonly ca?: string | undefined;
  readonly credentials: Credentials;
  /** The default namespace. */
  readonly namespace: string;
}

/** Another address of the same server. */
interface ServerAddress {
  readonly server: string;
  readonly serverName?: string | undefined;
}

/**
 * Returns the same access with another server address, such as that of a tenant's Service. Without a `serverName`, the
 * certificate must have the same name as before.
 */
export function withServer(
  access: ClusterAccess,
  { server, serverName }: ServerAddress,
): ClusterAccess {
  return {
    ...access,
    server: withoutSlash(server),
    serverName: serverName ?? access.serverName ?? hostOf(access.server),
  };
}

/** Returns the host of a server URL. An IPv6 address has no brackets, as in certificates. */
export function hostOf(server: string): string {
  return new URL(server).hostname.replace(/^\[|\]$/g, '');
}

/** Removes trailing slashes, as {@link ClusterAccess.server} requires. */
export function withoutSlash(server: string): string {
  return server.replace(/\/+$/, '');
}

/**
 * The codes:
 * - `AccessMissing`, `AccessInvalid`: a kubeconfig that does not exist or is invalid
 * - `AccessRefused`: a valid kubeconfig that requires something that Snicket does not support
 * - `NotInCluster`: this process has no service account credentials of a pod
 */
type AccessErrorCode = 'AccessMissing' | 'AccessInvalid' | 'AccessRefused' | 'NotInCluster';

/** The error if there is no access. The message says what to do, and contains no credentials. */
export class AccessError extends Error {
  override readonly name = 'AccessError';
  readonly code: AccessErrorCode;

  constructor(code: AccessErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
