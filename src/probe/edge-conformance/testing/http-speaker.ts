/**
 * For tests only: an HTTP/1.1 server on a TLS socket with configurable behavior at the end of a connection.
 */
import type { TLSSocket } from 'node:tls';
import { httpText } from '../../testing/responses.ts';

const RESPONSE = httpText('403 Forbidden', { 'Content-Type': 'text/plain' }, 'no');
const HEAD_END = '\r\n\r\n';

/** The behavior of the server. */
export interface ServerBehavior {
  /** Closes each connection after this time. Default: never. */
  readonly endsAfterMs?: number;
  /** Delays each response by this time, and closes immediately when the client closes. Default: neither. */
  readonly hangsUpWithin?: number;
}

/** Returns a handler that responds to each request. */
export function httpSpeaker(manners: ServerBehavior = {}): (socket: TLSSocket) => void {
  const { endsAfterMs, hangsUpWithin } = manners;
  return (socket) => {
    let unread = '';
    const response = (isLast: boolean) => {
      if (socket.destroyed) return;
      socket.write(RESPONSE);
      if (isLast) socket.end();
    };
    socket.on('data', (chunk: Buffer) => {
      unread += chunk.toString('latin1');
      for (let end = unread.indexOf(HEAD_END); end >= 0; end = unread.indexOf(HEAD_END)) {
        const isLast = unread.slice(0, end).includes('Connection: close');
        unread = unread.slice(end + HEAD_END.length);
        if (hangsUpWithin === undefined) response(isLast);
        else setTimeout(() => response(isLast), hangsUpWithin);
      }
    });
    socket.on('end', () => (hangsUpWithin === undefined ? socket.end() : socket.destroy()));
    if (endsAfterMs !== undefined) setTimeout(() => socket.end(), endsAfterMs);
  };
}
