/**
 * Requests to one API server: credentials, limits, errors. The client builds the requests, and the RoundTripper manages
 * the connections.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import type { ClusterAccess } from '../access/cluster-access.ts';
import { KubeError } from '../kube-error.ts';
import { identitySource, type Identity, type IdentitySource } from './credentials.ts';
import { bytesWithin, type HttpResponse } from './body.ts';
import { errorOfResponse, malformed, nameOf, type CallName } from './request-error.ts';
import { CallLimits } from './request-limits.ts';
import { NetworkRoundTripper } from './network-round-tripper.ts';
import { LimitedStream, type ByteStream } from './stream.ts';
import type { RoundTripper, HttpRequest } from './round-tripper.ts';

/** A request. */
export interface Call {
  readonly verb: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Undefined values are omitted. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** Default `application/json`. */
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
  /** Called right before each attempt to send the request. The call fails with what this throws. */
  readonly assertMaySend?: (() => void) | undefined;
}

/** A completely read response. */
interface FullResponse {
  /** The parsed JSON. */
  readonly content: unknown;
  readonly bytes: number;
}

interface TransportOptions {
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** Maximum size of a response that is read completely. */
  readonly responseBytes: number;
  readonly clock?: Clock | undefined;
  /** Default: TLS connections. */
  readonly roundTripper?: RoundTripper | undefined;
}

const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * The requested duration of a watch: `least` plus a random part of `spread`, so that watches that were opened at the
 * same moment do not all end at the same moment.
 */
export const WATCH_SECONDS = { least: 300, spread: 300 };

/**
 * Longer than the requested duration of a watch. It cannot be shorter: bookmarks come about every 60 seconds, but only
 * if an object of the kind has changed, and a DaemonSet may not change for days. Keepalive detects dead peers.
 */
const SILENCE_MS = (WATCH_SECONDS.least + WATCH_SECONDS.spread + 60) * 1000;

/** A watch that was opened with the previous token may still be open. */
const KNOWN_TOKENS = 2;

/** Sends requests to one server with one identity. */
export class Transport {
  readonly #access: ClusterAccess;
  readonly #options: TransportOptions;
  readonly #clock: Clock;
  readonly #identities: IdentitySource;
  readonly #roundTripper: RoundTripper;
  /** The most recently sent tokens. */
  #tokens: readonly string[] = [];

  constructor(access: ClusterAccess, options: TransportOptions) {
    const { clock = systemClock } = options;
    this.#access = access;
    this.#options = options;
    this.#clock = clock;
    this.#identities = identitySource(access, clock);
    this.#roundTripper = options.roundTripper ?? new NetworkRoundTripper(access);
  }

  get server(): string {
    return this.#access.server;
  }

  /** Returns the name of a call in messages. */
  nameOf({ verb, path }: Call): CallName {
    return { verb, path, server: this.server, redact: this.#redact };
  }

  /** Returns the parsed response. @throws KubeError */
  async json(call: Call): Promise<unknown> {
    return (await this.fullResponse(call)).content;
  }

  /** Returns the parsed response and its size. @throws KubeError */
  async fullResponse(call: Call): Promise<FullResponse> {
    const { responseBytes } = this.#options;
    const limits = this.#limits(call);
    try {
      const response = await this.#accepted(call, limits, (identity) =>
        this.#roundTripper.fetch(this.#requestOf(call, identity), (stop) => limits.stopBy(stop)),
      );
      const { content, isComplete } = await bytesWithin(response, responseBytes);
      if (isComplete) return { content: parsed(content, this.nameOf(call)), bytes: content.length };
      throw malformed(this.nameOf(call), `more than ${responseBytes} bytes (responseBytes)`);
    } catch (failure) {
      throw failure instanceof SendRefused ? failure.cause : limits.errorOf(failure);
    } finally {
      limits.end();
    }
  }

  /** Returns the response as a stream. @throws KubeError */
  async stream(call: Call): Promise<ByteStream> {
    const limits = this.#limits(call);
    try {
      const response = await this.#accepted(call, limits, (identity) =>
        this.#roundTripper.stream(this.#requestOf(call, identity), (stop) => limits.stopBy(stop)),
      );
      limits.limitSilence(SILENCE_MS);
      return new LimitedStream(response, limits);
    } catch (failure) {
      const error = failure instanceof SendRefused ? failure.cause : limits.errorOf(failure);
      limits.end();
      throw error;
    }
  }

  /**
   * Returns the HTTP status of a server that the API server proxies. The body is not returned. @throws KubeError, also if
   * the response is a Status, which the API server sends
   */
  async proxiedStatus(call: Call): Promise<number> {
    const limits = this.#limits(call);
    try {
      const response = await this.#accepted(call, limits, (identity) =>
        this.#roundTripper.stream(this.#requestOf(call, identity), (stop) => limits.stopBy(stop)),
      );
      return response.status;
    } catch (failure) {
      const error = limits.errorOf(failure);
      if (error.status !== undefined && error.statusMessage === undefined) return error.status;
      throw error;
    } finally {
      limits.end();
    }
  }

  #limits(call: Call): CallLimits {
    return new CallLimits(this.nameOf(call), this.#clock, this.#options.timeoutMs, call.signal);
  }

  /** Returns a successful response. On a 401, retries once with new credentials. */
  async #accepted(
    call: Call,
    limits: CallLimits,
    attempt: (identity: Identity) => Promise<HttpResponse>,
  ): Promise<HttpResponse> {
    let identity = await this.#identity(call, limits, this.#identities.current());
    let response = await attempt(identity);
    if (response.status === 401) {
      const refusal = await this.#refusal(call, response);
      const renewed = await this.#identity(call, limits, this.#identities.after(identity));
      if (renewed === identity) throw refusal;
      identity = renewed;
      response = await attempt(identity);
    }
    if (response.status >= 200 && response.status < 300) return response;
    throw await this.#refusal(call, response);
  }

  async #identity(call: Call, limits: CallLimits, pending: Promise<Identity>): Promise<Identity> {
    const known = pending.catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      throw new KubeError(
        'Unauthorized',
        `${nameOf(this.nameOf(call))}: no credentials: ${message}`,
        {
          cause: error,
        },
      );
    });
    return limits.unlessCanceled(known);
  }

  #requestOf(call: Call, identity: Identity): HttpRequest {
    const { assertMaySend } = call;
    return {
      method: call.verb,
      url: urlOf(this.server, call),
      headers: this.#headers(call, identity),
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      identity,
      assertMaySend: assertMaySend && (() => marked(assertMaySend)),
    };
  }

  /** Removes tokens, since a server's message may contain the token that it received. */
  readonly #redact = (text: string): string =>
    this.#tokens.reduce((rest, token) => rest.replaceAll(token, '(token)'), text);

  #headers(call: Call, { token }: Identity): Record<string, string> {
    if (token !== undefined && !this.#tokens.includes(token)) {
      this.#tokens = [token, ...this.#tokens].slice(0, KNOWN_TOKENS);
    }
    return {
      accept: 'application/json',
      'user-agent': this.#options.userAgent,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(call.body === undefined
        ? {}
        : { 'content-type': call.contentType ?? 'application/json' }),
    };
  }

  async #refusal(call: Call, response: HttpResponse): Promise<KubeError> {
    const { content } = await bytesWithin(response, MAX_REFUSAL_BYTES);
    return errorOfResponse(this.nameOf(call), {
      status: response.status,
      body: content.toString('utf8'),
      retryAfter: response.retryAfter,
    });
  }
}

/** The caller refused the request before it was sent. The cause is what the caller threw. */
class SendRefused extends Error {}

/** Marks what the caller throws, which is not a failure of the connection. @throws SendRefused */
function marked(assertMaySend: () => void): void {
  try {
    assertMaySend();
  } catch (cause) {
    throw new SendRefused('the caller refused the request', { cause });
  }
}

function urlOf(server: string, { path, query = {} }: Call): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, value);
  }
  return `${server}${path}${parameters.size === 0 ? '' : `?${parameters.toString()}`}`;
}

function parsed(bytes: Buffer, call: CallName): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // The parser's error would quote the text, which may be a Secret.
    throw malformed(call, `not JSON (${bytes.length} bytes)`);
  }
}
