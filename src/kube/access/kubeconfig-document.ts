/**
 * Kubeconfigs as they are written, and several of them as one.
 */
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { AccessError } from './cluster-access.ts';

/** `kubectl config` writes null where there is nothing. */
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

/** Where a text comes from. */
export interface Origin {
  /** As messages name it: a path, or `the kubeconfig`. */
  readonly name: string;
  /** Where its file names start from; without it, it may name none, and no program either. */
  readonly folder?: string | undefined;
}

/** A cluster, user or context, and the text that has it. */
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
export type KubeconfigContext = z.infer<typeof contextSchema>;

/** One kubeconfig, or several merged. */
export interface Kubeconfig {
  /** All texts that it was made of, for messages. */
  readonly name: string;
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Entry<KubeconfigCluster>>;
  readonly users: ReadonlyMap<string, Entry<KubeconfigUser>>;
  readonly contexts: ReadonlyMap<string, Entry<KubeconfigContext>>;
}

/** A person's file may have hundreds of clusters; one in a Secret has one, and whoever wrote that may be anybody. */
const MAX_LENGTH = { file: 2 * 1024 * 1024, secret: 128 * 1024 };
/** Up to here it is worth the time to tell the line of a mistake. */
const MAX_TOLD_LENGTH = 16 * 1024;

/** Reads one text. @throws AccessError */
export function readKubeconfig(text: string, origin: Origin): Kubeconfig {
  const value = parsedYaml(text, origin) ?? {};
  const { data, error } = documentSchema.safeParse(value);
  if (error !== undefined) throw noKubeconfig(origin, faultText(value, error));
  return {
    name: origin.name,
    currentContext: data['current-context'] === '' ? undefined : data['current-context'],
    clusters: byName(data.clusters ?? [], (entry) => entry.cluster, origin),
    users: byName(data.users ?? [], (entry) => entry.user ?? userSchema.parse({}), origin),
    contexts: byName(data.contexts ?? [], (entry) => entry.context, origin),
  };
}

/** As kubectl merges: whoever comes first and has a name, or a current context, decides it. */
export function mergeKubeconfigs(kubeconfigs: readonly Kubeconfig[]): Kubeconfig {
  const merged = <T>(pick: (kubeconfig: Kubeconfig) => ReadonlyMap<string, T>) =>
    new Map(kubeconfigs.toReversed().flatMap((kubeconfig) => [...pick(kubeconfig)]));
  return {
    name: kubeconfigs.map(({ name }) => name).join(', '),
    currentContext: kubeconfigs.find((one) => one.currentContext !== undefined)?.currentContext,
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
      `${origin.name} has ${text.length} characters; at most ${maxLength} are read`,
    );
  }
  try {
    // Not by `yaml`: 240 KB of keys would keep it for a minute, and a lease is lost in a quarter of that.
    return Bun.YAML.parse(text);
  } catch {
    // A parser's own sentence may quote the line, and that may be a key: it is not passed on, as a cause neither.
    const line = text.length <= MAX_TOLD_LENGTH ? lineOfMistake(text) : undefined;
    const at = line === undefined ? '' : ` at line ${line}`;
    throw noKubeconfig(origin, `it is not YAML${at}`);
  }
}

function noKubeconfig({ name, folder }: Origin, fault: string): AccessError {
  const wayOut = folder === undefined ? 'compare it' : 'name another file, or compare it';
  return new AccessError(
    'AccessInvalid',
    `${name} is no kubeconfig: ${fault}; ${wayOut} with what \`kubectl config view\` prints`,
  );
}

/** What is wrong first; where it is, and of what kind, but not what it says: that may be a key. */
function faultText(value: unknown, { issues: [issue] }: z.ZodError): string {
  if (issue === undefined || issue.path.length === 0) {
    const found = Array.isArray(value) ? 'a list' : `a single ${typeof value}`;
    return `all of it is ${found}, and should have clusters, users and contexts`;
  }
  return `${issue.path.join('.')}: ${issue.message.replace(/^Invalid input: /, '')}`;
}

/** Bun's parser does not tell; the document is not made into values, since that is what can take for ever. */
function lineOfMistake(text: string): number | undefined {
  const { errors } = parseDocument(text, { uniqueKeys: false, logLevel: 'silent' });
  return errors[0]?.linePos?.[0].line;
}

function byName<E extends { readonly name: string }, T>(
  entries: readonly E[],
  value: (entry: E) => T,
  origin: Origin,
): ReadonlyMap<string, Entry<T>> {
  // Of two with one name kubectl takes the first.
  return new Map(
    entries
      .toReversed()
      .map((entry) => [entry.name, { name: entry.name, origin, value: value(entry) }]),
  );
}
