/**
 * The master keys of Snicket's own gateway: one Secret in the operator's namespace, made once and never replaced by us.
 * Whoever replaces a key adds the new one in a line of its own; the last line is the one that workers get.
 */
import { systemClock, type Clock } from '../clock/clock.ts';
import { parseKeys } from '../wire/master-keys.ts';
import type { ObjectClient } from '../kube/client/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { MANAGED_BY } from '../api/labels.ts';
import { deriveTenantSecret } from '../wire/tenant-key.ts';

/** The Secret and its entry, as the gateway mounts it. */
export const GATEWAY_KEYS = { name: 'snicket-gateway-keys', entry: 'master.key' } as const;

interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** Reads the Secret, and makes it if it is not there. @throws if it is there and holds no key. */
export async function ensureMasterKeys(
  client: ObjectClient,
  namespace: string,
  signal: AbortSignal,
): Promise<MasterKeys> {
  const found = await readMasterKeys(client, namespace, signal);
  return found ?? keysIn(await create(client, namespace, signal), namespace);
}

/** Reads the Secret; undefined if it is not there. @throws if it is there and holds no key. */
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

async function create(
  client: ObjectClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Secret> {
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64');
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: GATEWAY_KEYS.name, namespace, labels: MANAGED_BY },
    type: 'Opaque',
    data: { [GATEWAY_KEYS.entry]: Buffer.from(`${random}\n`).toString('base64') },
  };
  try {
    return await client.create(RESOURCES.secret, secret, { signal });
  } catch (error) {
    // Another replica was first: its key is the key.
    if (!isKubeError(error, 'AlreadyExists')) throw error;
    const theirs = await client.get<Secret>(
      RESOURCES.secret,
      { namespace, name: GATEWAY_KEYS.name },
      { signal },
    );
    if (theirs === undefined) throw error;
    return theirs;
  }
}

/** The keys, from which every tenant's is derived. */
export class MasterKeys {
  readonly #newest: Uint8Array;

  constructor(keys: readonly Uint8Array[]) {
    const newest = keys.at(-1);
    if (newest === undefined) throw new TypeError('there is no key');
    this.#newest = newest;
  }

  /** Whether tenants get the same keys from both. */
  hasSameNewest(other: MasterKeys): boolean {
    return Buffer.from(this.#newest).equals(other.#newest);
  }

  /** The key of the tenant with this API host, as base64. */
  tenantKey(host: string): string {
    return Buffer.from(deriveTenantSecret(this.#newest, host)).toString('base64');
  }
}

/** How long keys are used without reading them again. */
const KEEP_MS = 10_000;

/** The keys, read once for many tenants. */
export class MasterKeySource {
  readonly #read: () => Promise<MasterKeys>;
  readonly #clock: Clock;
  #last: { readonly keys: Promise<MasterKeys>; readonly atMs: number } | undefined;
  #refreshed: MasterKeys | undefined;

  constructor(read: () => Promise<MasterKeys>, clock: Clock = systemClock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** Reads the keys now. Returns whether tenants get other keys than after the last refresh. @throws what reading throws. */
  async refresh(): Promise<boolean> {
    this.#last = undefined;
    const keys = await this.current();
    const previous = this.#refreshed;
    this.#refreshed = keys;
    return previous !== undefined && !keys.hasSameNewest(previous);
  }

  /** @throws what reading throws; the next call reads again. */
  async current(): Promise<MasterKeys> {
    const atMs = this.#clock.nowMs();
    if (this.#last === undefined || atMs - this.#last.atMs >= KEEP_MS) {
      this.#last = { keys: this.#read(), atMs };
    }
    const { keys } = this.#last;
    try {
      return await keys;
    } catch (error) {
      if (this.#last?.keys === keys) this.#last = undefined;
      throw error;
    }
  }
}
