/** A connection that failed, with the code that the system would give. */
export class ConnectionError extends Error {
  readonly code: 'ECONNRESET' | 'ETIMEDOUT';

  constructor(code: 'ECONNRESET' | 'ETIMEDOUT', message: string) {
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

/** The server took too long. */
export function timedOut(message: string): ConnectionError {
  return new ConnectionError('ETIMEDOUT', message);
}

/** The server ended a connection or a request. */
export function reset(message: string): ConnectionError {
  return new ConnectionError('ECONNRESET', message);
}
