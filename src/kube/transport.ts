/**
 * Requests to one API server over Bun's `fetch`: TLS, credentials, limits, errors. What is asked is the client's affair.
 *
 * Facts of Bun 1.4 that this rests on, each with a test: connections of two sessions are never shared, so neither are
 * identities; `serverName` is both what is asked for and what is verified; $NODE_TLS_REJECT_UNAUTHORIZED=0 would switch
 * verification off, were it not asked for in so many words; without `timeout: false` a watch is cut after five quiet
 * minutes.
 */
import { getCACertificates } from 'node:tls';
import { systemClock, type Clock } from '../engine/clock.ts';
import { hostOf, type ClusterAccess } from './cluster-access.ts';
import { KubeError } from './kube-error.ts';
import { identitySource, type Identity, type IdentitySource } from './transport-credentials.ts';
import { bytesWithin, LimitedStream, type ByteStream } from './transport-body.ts';
import { errorOfAnswer, malformed, nameOf, type CallName } from './transport-error.ts';
import { CallLimits } from './transport-limits.ts';

/** A request. */
export interface Call {
  readonly verb: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** Default `application/json`. */
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Options of a {@link Transport}. */
export interface TransportOptions {
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly clock?: Clock | undefined;
  readonly wallMs?: (() => number) | undefined;
}

/** 500 nodes with all their images are a third of this. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * Bookmarks come every 60 seconds, so a connection that is silent for this long is dead, or somebody on the way has
 * forgotten it.
 */
const SILENCE_MS = 150_000;

/** kube-apiserver closes a connection that is idle for 90 seconds; a request must not meet that. */
const KEEP_ALIVE = { idleTimeout: 60, maxIdleSockets: 4 };

/** One server, one identity. */
export class Transport {
  readonly #access: ClusterAccess;
  readonly #options: TransportOptions;
  readonly #clock: Clock;
  readonly #identities: IdentitySource;
  #session: { readonly of: Identity; readonly session: Bun.FetchSession } | undefined;

  constructor(access: ClusterAccess, options: TransportOptions) {
    const { clock = systemClock, wallMs = Date.now } = options;
    this.#access = access;
    this.#options = options;
    this.#clock = clock;
    this.#identities = identitySource(access, { clock, wallMs });
  }

  get server(): string {
    return this.#access.server;
  }

  /** As messages name a call. */
  nameOf({ verb, path }: Call): CallName {
    return { verb, path, server: this.server };
  }

  /** The answer, parsed. @throws KubeError */
  async json(call: Call): Promise<unknown> {
    const limits = this.#limits(call);
    try {
      const response = await this.#send(call, limits);
      const bytes = await this.#bytesOf(call, response);
      return parsed(bytes, this.nameOf(call));
    } catch (failure) {
      throw limits.errorOf(failure);
    } finally {
      limits.end();
    }
  }

  /** The answer as it comes, for as long as it comes. @throws KubeError */
  async stream(call: Call): Promise<ByteStream> {
    const limits = this.#limits(call);
    try {
      const response = await this.#send(call, limits);
      limits.limitSilence(SILENCE_MS);
      return new LimitedStream(response, limits);
    } catch (failure) {
      const error = limits.errorOf(failure);
      limits.end();
      throw error;
    }
  }

  #limits(call: Call): CallLimits {
    return new CallLimits(this.nameOf(call), this.#clock, this.#options.timeoutMs, call.signal);
  }

  /** An answer that says yes. If the server does not know the caller any more, once again with fresh credentials. */
  async #send(call: Call, limits: CallLimits): Promise<Response> {
    const identity = await this.#identity(call, limits, this.#identities.current());
    const response = await this.#fetch(call, identity, limits);
    if (response.ok) return response;
    if (response.status === 401) {
      const other = await this.#identity(call, limits, this.#identities.after(identity));
      if (other !== identity) {
        await response.body?.cancel();
        const second = await this.#fetch(call, other, limits);
        if (second.ok) return second;
        throw await this.#refusal(call, second, other);
      }
    }
    throw await this.#refusal(call, response, identity);
  }

  async #identity(call: Call, limits: CallLimits, pending: Promise<Identity>): Promise<Identity> {
    const known = pending.catch((error: unknown) => {
      const said = error instanceof Error ? error.message : String(error);
      throw new KubeError(
        'Unauthorized',
        `${nameOf(this.nameOf(call))}: there are no credentials to send: ${said}`,
        { cause: error },
      );
    });
    return limits.orGivenUp(known);
  }

  async #fetch(call: Call, identity: Identity, limits: CallLimits): Promise<Response> {
    const { verb, path, query = {}, body, contentType = 'application/json' } = call;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) parameters.set(name, value);
    }
    const search = parameters.size === 0 ? '' : `?${parameters.toString()}`;
    return this.#sessionOf(identity).fetch(`${this.server}${path}${search}`, {
      method: verb,
      headers: {
        accept: 'application/json',
        'user-agent': this.#options.userAgent,
        ...(identity.token === undefined ? {} : { authorization: `Bearer ${identity.token}` }),
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: limits.signal,
      // To follow would be to carry the credentials to wherever the answer says.
      redirect: 'manual',
      proxy: false,
      timeout: false,
    });
  }

  /** Another certificate is another session: a connection is the identity of whoever opened it. */
  #sessionOf(identity: Identity): Bun.FetchSession {
    const last = this.#session;
    if (last !== undefined && last.of.cert === identity.cert && last.of.key === identity.key) {
      return last.session;
    }
    last?.session.close();
    const { ca, serverName, server } = this.#access;
    const session = new Bun.FetchSession({
      tls: {
        ca: ca ?? systemRoots(),
        cert: identity.cert,
        key: identity.key,
        serverName: serverName ?? hostOf(server),
        rejectUnauthorized: true,
      },
      keepAlive: KEEP_ALIVE,
    });
    this.#session = { of: identity, session };
    return session;
  }

  async #refusal(call: Call, response: Response, { token }: Identity): Promise<KubeError> {
    const bytes = await bytesWithin(response, MAX_REFUSAL_BYTES);
    const body = bytes.content.toString('utf8');
    return errorOfAnswer(this.nameOf(call), {
      status: response.status,
      // Whoever answers may say what it was sent.
      body: token === undefined ? body : body.replaceAll(token, '(token)'),
      retryAfter: response.headers.get('retry-after'),
    });
  }

  async #bytesOf(call: Call, response: Response): Promise<Buffer> {
    const { content, isWhole } = await bytesWithin(response, MAX_ANSWER_BYTES);
    if (isWhole) return content;
    throw malformed(this.nameOf(call), `it has more than ${MAX_ANSWER_BYTES} bytes`);
  }
}

function parsed(bytes: Buffer, call: CallName): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // The parser would quote the text, which may be a Secret.
    throw malformed(call, `it has ${bytes.length} bytes and is not JSON`);
  }
}

let roots: string[] | undefined;

/** Those of the system, as kubectl takes them; where there are none, those that Bun brings along. */
function systemRoots(): string[] | undefined {
  roots ??= getCACertificates('system');
  return roots.length === 0 ? undefined : roots;
}
