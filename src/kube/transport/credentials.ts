/**
 * The credentials of requests. Some expire and are fetched again.
 */
import type { Clock } from '../../clock/clock.ts';
import { readWatchedAsync } from '../../files/read-watched.ts';
import { isSendable, UNSENDABLE } from '../access/bearer-token.ts';
import type { ClusterAccess, ExecPlugin } from '../access/cluster-access.ts';
import { runExecPlugin } from '../access/exec-plugin.ts';

/** The credentials of one request. The object stays the same while nothing changes. */
export interface Identity {
  readonly token?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** A source of identities. */
export interface IdentitySource {
  /** Returns the identity to use now. */
  current(): Promise<Identity>;
  /**
   * Returns another identity after the server rejected `refused`. Returns the same object if there is no other one, so
   * that a retry is pointless.
   */
  after(refused: Identity): Promise<Identity>;
}

/**
 * How long a token file is cached. The kubelet replaces a token when a fifth of its lifetime is left, which is at least
 * two minutes.
 */
const TOKEN_FILE_AGE_MS = 60_000;
/** Credentials that expire within this time are not sent, since they may have expired on arrival. */
const EXPIRY_MARGIN_MS = 10_000;

/** Returns the identity source of an access. */
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

/** A fetched identity and its freshness. */
interface Fetch {
  readonly identity: Identity;
  readonly isFresh: () => boolean;
}

/**
 * Fetches an identity when needed, with one fetch at a time for all callers. Returns the previous object if nothing
 * changed.
 */
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
    // Another request may have been rejected earlier, and may have fetched an identity already.
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
  const token = (await readWatchedAsync(path)).toString('utf8').trim();
  if (token === '') throw new Error(`${path} is empty; write a token into it`);
  if (!isSendable(token)) throw new Error(`${path} has ${UNSENDABLE}`);
  return { identity: { token }, isFresh: () => clock.nowMs() - readMs < TOKEN_FILE_AGE_MS };
}

async function runFor(plugin: ExecPlugin, access: ClusterAccess, clock: Clock): Promise<Fetch> {
  const { expiresAtMs = Infinity, ...identity } = await runExecPlugin(plugin, access, clock);
  return { identity, isFresh: () => clock.now().getTime() < expiresAtMs - EXPIRY_MARGIN_MS };
}

function isSame(a: Identity, b: Identity): boolean {
  return a.token === b.token && a.cert === b.cert && a.key === b.key;
}
