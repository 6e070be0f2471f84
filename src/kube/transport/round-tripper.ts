/**
 * The transport of HTTP requests to an API server.
 */
import type { HttpResponse } from './body.ts';
import type { Identity } from './credentials.ts';

/** A complete request. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** The identity whose client certificate, if any, the connection uses. */
  readonly identity: Identity;
  /**
   * Called right before each attempt to write the request to a connection. With HTTP/2 also before the end of the body is
   * written. The request fails with what this throws.
   */
  readonly assertMaySend?: (() => void) | undefined;
}

/** Receives the function that cancels the request. */
export type StopBy = (stop: () => void) => void;

/** Sends requests to one API server. */
export interface RoundTripper {
  /** Sends a request whose response is read completely. @throws Error with the code of the system or of OpenSSL */
  fetch(request: HttpRequest, stopBy: StopBy): Promise<HttpResponse>;
  /** Sends a request with a streaming response. @throws Error with the code of the system or of OpenSSL */
  stream(request: HttpRequest, stopBy: StopBy): Promise<HttpResponse>;
}
