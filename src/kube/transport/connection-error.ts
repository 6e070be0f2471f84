/** A connection that failed, with the code that the system has for it. */
export class ConnectionError extends Error {
  readonly code: 'ECONNRESET' | 'ETIMEDOUT' | 'ERR_HTTP2_ERROR';

  constructor(code: ConnectionError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The server has not begun to work on a request: it can be repeated. */
export class NotProcessed extends ConnectionError {
  constructor(message: string) {
    super('ECONNRESET', message);
  }
}

/** The server broke HTTP/2. */
export class ProtocolError extends ConnectionError {
  constructor(what: string) {
    super('ERR_HTTP2_ERROR', `the server breaks HTTP/2: ${what}`);
  }
}

/** The server took too long. */
export function timedOut(message: string): ConnectionError {
  return new ConnectionError('ETIMEDOUT', message);
}

/** The server ended a connection or a request. */
export function reset(message: string): ConnectionError {
  return new ConnectionError('ECONNRESET', message);
}
