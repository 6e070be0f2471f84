/**
 * What a request carries to say who asks: some of it grows old and is fetched anew.
 */
import type { Clock } from '../../clock/clock.ts';
import { readWatchedLater } from '../../files/read-watched.ts';
import { isSendable, UNSENDABLE } from '../access/bearer-token.ts';
import type { ClusterAccess, ExecPlugin } from '../access/cluster-access.ts';
import { runExecPlugin } from '../access/exec-plugin.ts';

/** Who asks, for one request. The object is the same one as long as nothing has changed. */
export interface Identity {
  readonly token?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** Where identities come from. */
export interface IdentitySource {
  /** The one to use now. */
  current(): Promise<Identity>;
  /**
   * Another one, after the server has refused `refused`. The very same object means that there is none: to ask again
   * would be to no avail.
   */
  after(refused: Identity): Promise<Identity>;
}

/** The kubelet replaces a token when a fifth of its life is left, two minutes at the least. */
const TOKEN_FILE_AGE_MS = 60_000;
/** What expires within this time is not sent any more: it may arrive too late. */
const EXPIRY_MARGIN_MS = 10_000;

/** The source that an access asks for. */
export function identitySource(access: ClusterAccess, clock: Clock): IdentitySource {
  const { credentials } = access;
  switch (credentials.kind) {
    case 'none':
      return fixed({});
    case 'certificate':
      return fixed({ cert: credentials.cert, key: credentials.key });
    case 'token':
      return fixed({ token: credentials.token });
    case 'token-file':
      return new Fetched(async () => readTokenFile(credentials.path, clock));
    case 'exec':
      return new Fetched(async () => runFor(credentials.plugin, access, clock));
  }
}

function fixed(identity: Identity): IdentitySource {
  return { current: async () => identity, after: async () => identity };
}

/** An identity, and whether it may still be used. */
interface Fetch {
  readonly identity: Identity;
  readonly isFresh: () => boolean;
}

/** Fetches when there is need, one at a time whoever asks, and keeps the old object if the new one says the same. */
class Fetched implements IdentitySource {
  readonly #fetch: () => Promise<Fetch>;
  #last: Fetch | undefined;
  #pending: Promise<Identity> | undefined;

  constructor(fetch: () => Promise<Fetch>) {
    this.#fetch = fetch;
  }

  async current(): Promise<Identity> {
    return this.#last?.isFresh() ? this.#last.identity : this.#renewed();
  }

  async after(refused: Identity): Promise<Identity> {
    // Somebody else may have been refused before, and has fetched already.
    return this.#last === undefined || this.#last.identity === refused
      ? this.#renewed()
      : this.#last.identity;
  }

  async #renewed(): Promise<Identity> {
    this.#pending ??= this.#renew().finally(() => (this.#pending = undefined));
    return this.#pending;
  }

  async #renew(): Promise<Identity> {
    const fetched = await this.#fetch();
    const known = this.#last?.identity;
    const identity =
      known !== undefined && isSame(known, fetched.identity) ? known : fetched.identity;
    this.#last = { identity, isFresh: fetched.isFresh };
    return identity;
  }
}

async function readTokenFile(path: string, clock: Clock): Promise<Fetch> {
  const readMs = clock.nowMs();
  const token = (await readWatchedLater(path)).toString('utf8').trim();
  if (token === '') throw new Error(`${path} is empty; a token belongs there`);
  if (!isSendable(token)) throw new Error(`${path} has ${UNSENDABLE}`);
  return { identity: { token }, isFresh: () => clock.nowMs() - readMs < TOKEN_FILE_AGE_MS };
}

async function runFor(plugin: ExecPlugin, access: ClusterAccess, clock: Clock): Promise<Fetch> {
  const { expiresAtMs = Infinity, ...identity } = await runExecPlugin(plugin, access, clock);
  return { identity, isFresh: () => clock.now().getTime() < expiresAtMs - EXPIRY_MARGIN_MS };
}

function isSame(one: Identity, other: Identity): boolean {
  return one.token === other.token && one.cert === other.cert && one.key === other.key;
}
