/**
 * For tests only: responses over HTTP.
 */
import type { ServerResponse } from 'node:http';
import type { ResponseWriter } from './api-response.ts';

/** Time for bytes to be sent before the connection is reset. */
const ON_THEIR_WAY_MS = 20;

/** Wraps the response of a Node.js server. */
export function httpResponse(response: ServerResponse): ResponseWriter {
  return {
    get headersSent() {
      return response.headersSent;
    },
    get closed() {
      return response.closed;
    },
    begin: (status, headers) => void response.writeHead(status, { ...headers }),
    flush: () => response.flushHeaders(),
    write: (text) => void response.write(text),
    end: (text = '') => void response.end(text),
    reset: () => void response.socket?.destroy(),
    resetSoon: () => void setTimeout(() => response.socket?.destroy(), ON_THEIR_WAY_MS),
    onClose: (run) => void response.on('close', run),
  };
}
