/**
 * What carries requests to an API server, and answers back.
 */
import type { Answer } from './body.ts';
import type { Identity } from './credentials.ts';

/** A request, ready to be sent. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Whose certificate the connection uses, if it uses one. */
  readonly identity: Identity;
}

/** Takes the function that breaks the request off. */
export type StopBy = (stop: () => void) => void;

/** Sends requests to one API server. */
export interface RoundTripper {
  /** For an answer that is read to its end at once. @throws Error with the code of the system or of OpenSSL */
  fetch(request: HttpRequest, stopBy: StopBy): Promise<Answer>;
  /** For an answer that goes on and on. @throws Error with the code of the system or of OpenSSL */
  stream(request: HttpRequest, stopBy: StopBy): Promise<Answer>;
}
