/**
 * A connection failure with a system error code.
 */
export class ConnectionError extends Error {
  readonly code: 'ECONNRESET' | 'ETIMEDOUT' | 'ERR_HTTP2_ERROR';

  constructor(code: ConnectionError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The server has not processed the request, so it can be retried. */
export class NotProcessed extends ConnectionError {
  constructor(message: string) {
    super('ECONNRESET', message);
  }
}

/** The server violated HTTP/2. */
export class ProtocolError extends ConnectionError {
  constructor(fault: string) {
    super('ERR_HTTP2_ERROR', `the server violates HTTP/2: ${fault}`);
  }
}

/** Returns the error for a timeout. */
export function timedOut(message: string): ConnectionError {
  return new ConnectionError('ETIMEDOUT', message);
}

/** Returns the error for a connection or request that the server ended. */
export function reset(message: string): ConnectionError {
  return new ConnectionError('ECONNRESET', message);
}
