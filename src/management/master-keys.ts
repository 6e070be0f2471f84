/**
 * The master keys of Snicket's own gateway: one Secret in the operator's namespace. The operator creates it, and never
 * replaces a key. To replace a key, the user adds a line with the new one; workers get the key of the last line.
 */
import { systemClock, type Clock } from '../clock/clock.ts';
import { parseKeys } from '../wire/master-keys.ts';
import type { ObjectClient } from '../kube/client/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { Logger } from '../telemetry/log.ts';
import { MANAGED_BY } from '../api/labels.ts';
import { deriveTenantSecret } from '../wire/tenant-key.ts';

/** The Secret and its entry, which the gateway mounts. */
export const GATEWAY_KEYS = { name: 'snicket-gateway-keys', entry: 'master.key' } as const;

interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** Options of {@link ensureMasterKeys} for a deleted Secret. */
interface RestoreOptions {
  /** The previous keys of the Secret. Undefined if unknown. */
  readonly keys: MasterKeys | undefined;
  readonly log: Logger;
}

/**
 * Reads the Secret, and creates it if it does not exist: with the previous keys, because workers and gateways still use
 * them, or else with a random key. @throws KeyFileError if it exists and has no valid key
 */
export async function ensureMasterKeys(
  client: ObjectClient,
  namespace: string,
  signal: AbortSignal,
  restore?: RestoreOptions,
): Promise<MasterKeys> {
  const found = await readMasterKeys(client, namespace, signal);
  if (found !== undefined) return found;
  const keys = restore?.keys ?? new MasterKeys([crypto.getRandomValues(new Uint8Array(32))]);
  let created: Secret;
  try {
    created = await client.create(RESOURCES.secret, secretWith(keys.text, namespace), { signal });
  } catch (error) {
    // Another client has created it meanwhile, so its keys are in use.
    if (!isKubeError(error, 'AlreadyExists')) throw error;
    const existing = await readMasterKeys(client, namespace, signal);
    if (existing === undefined) throw error;
    return existing;
  }
  if (restore?.keys !== undefined) {
    restore.log.warn('gateway keys restored', { secret: `${namespace}/${GATEWAY_KEYS.name}` });
  }
  return keysIn(created, namespace);
}

/** Reads the Secret; undefined if it does not exist. @throws if it exists without a valid key. */
export async function readMasterKeys(
  client: Pick<ObjectClient, 'get'>,
  namespace: string,
  signal: AbortSignal,
): Promise<MasterKeys | undefined> {
  const key = { namespace, name: GATEWAY_KEYS.name };
  const secret = await client.get<Secret>(RESOURCES.secret, key, { signal });
  return secret === undefined ? undefined : keysIn(secret, namespace);
}

function keysIn({ data }: Secret, namespace: string): MasterKeys {
  const text = Buffer.from(data?.[GATEWAY_KEYS.entry] ?? '', 'base64').toString();
  return new MasterKeys(parseKeys(text, `Secret ${namespace}/${GATEWAY_KEYS.name}`));
}

function secretWith(text: string, namespace: string): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: GATEWAY_KEYS.name, namespace, labels: MANAGED_BY },
    type: 'Opaque',
    data: { [GATEWAY_KEYS.entry]: Buffer.from(text).toString('base64') },
  };
}

/** The master keys, from which the keys of tenants are derived. */
export class MasterKeys {
  readonly #keys: readonly Uint8Array[];
  readonly #newest: Uint8Array;

  constructor(keys: readonly Uint8Array[]) {
    const newest = keys.at(-1);
    if (newest === undefined) throw new TypeError('there is no key');
    this.#keys = keys;
    this.#newest = newest;
  }

  /** Returns the content of a key file with all keys, in the same order. */
  get text(): string {
    return this.#keys.map((key) => `${Buffer.from(key).toString('base64')}\n`).join('');
  }

  /** Reports whether both derive the same keys for tenants. */
  hasSameNewest(other: MasterKeys): boolean {
    return Buffer.from(this.#newest).equals(other.#newest);
  }

  /** Returns the key of the tenant with this API host, as base64. */
  tenantKey(host: string): string {
    return Buffer.from(deriveTenantSecret(this.#newest, host)).toString('base64');
  }
}

/** The lifetime of cached keys. */
const CACHE_MS = 10_000;

/** Caches the keys for many tenants. */
export class MasterKeySource {
  readonly #read: (known: MasterKeys | undefined) => Promise<MasterKeys>;
  readonly #clock: Clock;
  #last: { readonly keys: Promise<MasterKeys>; readonly atMs: number } | undefined;
  #known: MasterKeys | undefined;
  #refreshed: MasterKeys | undefined;

  /** @param read - Receives the keys of the last read, if any. */
  constructor(
    read: (known: MasterKeys | undefined) => Promise<MasterKeys>,
    clock: Clock = systemClock,
  ) {
    this.#read = read;
    this.#clock = clock;
  }

  /**
   * Re-reads the keys. Returns whether the keys of tenants have changed since the last refresh. @throws the errors of
   * reading.
   */
  async refresh(): Promise<boolean> {
    this.#last = undefined;
    const keys = await this.current();
    const previous = this.#refreshed;
    this.#refreshed = keys;
    return previous !== undefined && !keys.hasSameNewest(previous);
  }

  /** @throws the errors of reading. The next call reads again. */
  async current(): Promise<MasterKeys> {
    const atMs = this.#clock.nowMs();
    if (this.#last === undefined || atMs - this.#last.atMs >= CACHE_MS) {
      this.#last = { keys: this.#read(this.#known), atMs };
    }
    const { keys } = this.#last;
    try {
      const read = await keys;
      if (this.#last?.keys === keys) this.#known = read;
      return read;
    } catch (error) {
      if (this.#last?.keys === keys) this.#last = undefined;
      throw error;
    }
  }
}
