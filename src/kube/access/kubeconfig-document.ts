/**
 * Parses kubeconfigs and merges several into one.
 */
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { AccessError } from './cluster-access.ts';

/** `kubectl config` writes null for absent values. */
function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

const clusterSchema = z.object({
  server: optional(z.string()),
  'tls-server-name': optional(z.string()),
  'certificate-authority': optional(z.string()),
  'certificate-authority-data': optional(z.string()),
  'insecure-skip-tls-verify': optional(z.boolean()),
  'proxy-url': optional(z.string()),
  extensions: optional(z.array(z.object({ name: z.string(), extension: z.unknown() }))),
});

const execSchema = z.object({
  apiVersion: z.string(),
  command: z.string().min(1),
  args: optional(z.array(z.string())),
  env: optional(z.array(z.object({ name: z.string(), value: z.string() }))),
  provideClusterInfo: optional(z.boolean()),
  interactiveMode: optional(z.enum(['Never', 'IfAvailable', 'Always'])),
  installHint: optional(z.string()),
});

const userSchema = z.object({
  'client-certificate': optional(z.string()),
  'client-certificate-data': optional(z.string()),
  'client-key': optional(z.string()),
  'client-key-data': optional(z.string()),
  token: optional(z.string()),
  tokenFile: optional(z.string()),
  exec: optional(execSchema),
  'auth-provider': optional(z.object({ name: z.string() })),
  username: optional(z.string()),
  password: optional(z.string()),
  as: optional(z.string()),
  'as-uid': optional(z.string()),
  'as-groups': optional(z.array(z.string())),
  'as-user-extra': optional(z.record(z.string(), z.unknown())),
});

const contextSchema = z.object({
  cluster: z.string(),
  user: optional(z.string()),
  namespace: optional(z.string()),
});

const documentSchema = z.object({
  'current-context': optional(z.string()),
  clusters: optional(z.array(z.object({ name: z.string(), cluster: clusterSchema }))),
  users: optional(z.array(z.object({ name: z.string(), user: optional(userSchema) }))),
  contexts: optional(z.array(z.object({ name: z.string(), context: contextSchema }))),
});

/** The source of a kubeconfig. */
export interface Origin {
  /** The name in messages: a path, or `the kubeconfig`. */
  readonly name: string;
  /** The base of relative file names. If absent, the kubeconfig may name neither files nor programs. */
  readonly folder?: string | undefined;
}

/** A cluster, user or context, with the source that defines it. */
export interface Entry<T> {
  readonly name: string;
  readonly origin: Origin;
  readonly value: T;
}

/** A cluster of a kubeconfig. */
export type KubeconfigCluster = z.infer<typeof clusterSchema>;
/** A user of a kubeconfig. */
export type KubeconfigUser = z.infer<typeof userSchema>;
/** A context of a kubeconfig. */
type KubeconfigContext = z.infer<typeof contextSchema>;

/** One kubeconfig, or several merged. */
export interface Kubeconfig {
  /** The names of all its sources, for messages. */
  readonly name: string;
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Entry<KubeconfigCluster>>;
  readonly users: ReadonlyMap<string, Entry<KubeconfigUser>>;
  readonly contexts: ReadonlyMap<string, Entry<KubeconfigContext>>;
}

/** A user's file may have hundreds of clusters. A kubeconfig in a Secret has one, and its author is not trusted. */
const MAX_LENGTH = { file: 2 * 1024 * 1024, secret: 128 * 1024 };
/** Above this length, the line of a syntax error is not searched for, to save time. */
const MAX_LOCATED_LENGTH = 16 * 1024;

/** Parses a kubeconfig. @throws AccessError */
export function readKubeconfig(text: string, origin: Origin): Kubeconfig {
  const value = parsedYaml(text, origin) ?? {};
  const { data, error } = documentSchema.safeParse(value);
  if (error !== undefined) throw invalidKubeconfig(origin, faultText(value, error));
  return {
    name: origin.name,
    currentContext: data['current-context'] === '' ? undefined : data['current-context'],
    clusters: byName(data.clusters ?? [], (entry) => entry.cluster, origin),
    users: byName(data.users ?? [], (entry) => entry.user ?? userSchema.parse({}), origin),
    contexts: byName(data.contexts ?? [], (entry) => entry.context, origin),
  };
}

/** Merges as kubectl does: for each name, and for the current context, the first kubeconfig that has it wins. */
export function mergeKubeconfigs(kubeconfigs: readonly Kubeconfig[]): Kubeconfig {
  const merged = <T>(pick: (kubeconfig: Kubeconfig) => ReadonlyMap<string, T>) =>
    new Map(kubeconfigs.toReversed().flatMap((kubeconfig) => [...pick(kubeconfig)]));
  return {
    name: kubeconfigs.map(({ name }) => name).join(', '),
    currentContext: kubeconfigs.find((kubeconfig) => kubeconfig.currentContext !== undefined)
      ?.currentContext,
    clusters: merged(({ clusters }) => clusters),
    users: merged(({ users }) => users),
    contexts: merged(({ contexts }) => contexts),
  };
}

function parsedYaml(text: string, origin: Origin): unknown {
  const maxLength = origin.folder === undefined ? MAX_LENGTH.secret : MAX_LENGTH.file;
  if (text.length > maxLength) {
    throw new AccessError(
      'AccessInvalid',
      `${origin.name} is too large: ${text.length} characters, at most ${maxLength}`,
    );
  }
  try {
    // Not parsed by `yaml`, which needs a minute for 240 KB of keys. A leader that is blocked that long loses its
    // Lease, which lasts 15 s.
    return Bun.YAML.parse(text);
  } catch {
    // The parser's message may quote the line, which may be a key. It is not passed on, not even as a cause.
    const line = text.length <= MAX_LOCATED_LENGTH ? lineOfSyntaxError(text) : undefined;
    const at = line === undefined ? '' : ` at line ${line}`;
    throw invalidKubeconfig(origin, `it is not YAML${at}`);
  }
}

function invalidKubeconfig({ name, folder }: Origin, fault: string): AccessError {
  const advice = folder === undefined ? 'compare it' : 'pass another file, or compare it';
  return new AccessError(
    'AccessInvalid',
    `${name} is not a valid kubeconfig: ${fault}; ${advice} with the output of \`kubectl config view\``,
  );
}

/** Describes the first problem: its path and kind, but not the value, which may be a key. */
function faultText(value: unknown, { issues: [issue] }: z.ZodError): string {
  if (issue === undefined || issue.path.length === 0) {
    const found = Array.isArray(value) ? 'a list' : `a single ${typeof value}`;
    return `expected a mapping with clusters, users and contexts, found ${found}`;
  }
  return `${issue.path.join('.')}: ${issue.message.replace(/^Invalid input: /, '')}`;
}

/**
 * Finds the line of a syntax error, which Bun's parser does not report. The document is not converted to values, since
 * that can take very long.
 */
function lineOfSyntaxError(text: string): number | undefined {
  const { errors } = parseDocument(text, { uniqueKeys: false, logLevel: 'silent' });
  return errors[0]?.linePos?.[0].line;
}

function byName<E extends { readonly name: string }, T>(
  entries: readonly E[],
  value: (entry: E) => T,
  origin: Origin,
): ReadonlyMap<string, Entry<T>> {
  // If two entries have the same name, kubectl takes the first.
  return new Map(
    entries
      .toReversed()
      .map((entry) => [entry.name, { name: entry.name, origin, value: value(entry) }]),
  );
}
