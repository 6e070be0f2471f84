/**
 * For tests only: a server of HTTP/1.1 on a TLS socket whose manners at the end of a connection can be chosen.
 */
import type { TLSSocket } from 'node:tls';
import { httpText } from '../../testing/answers.ts';

const ANSWER = httpText('403 Forbidden', { 'Content-Type': 'text/plain' }, 'no');
const HEAD_END = '\r\n\r\n';

/** Its manners. */
export interface Manners {
  /** Ends each connection after so long. Default: never. */
  readonly endsAfterMs?: number;
  /** Needs so long for an answer, and hangs up at once when the client ends. Default: neither. */
  readonly hangsUpWithin?: number;
}

/** Answers each request. */
export function httpSpeaker(manners: Manners = {}): (socket: TLSSocket) => void {
  const { endsAfterMs, hangsUpWithin } = manners;
  return (socket) => {
    let unread = '';
    const answer = (isLast: boolean) => {
      if (socket.destroyed) return;
      socket.write(ANSWER);
      if (isLast) socket.end();
    };
    socket.on('data', (chunk: Buffer) => {
      unread += chunk.toString('latin1');
      for (let end = unread.indexOf(HEAD_END); end >= 0; end = unread.indexOf(HEAD_END)) {
        const isLast = unread.slice(0, end).includes('Connection: close');
        unread = unread.slice(end + HEAD_END.length);
        if (hangsUpWithin === undefined) answer(isLast);
        else setTimeout(() => answer(isLast), hangsUpWithin);
      }
    });
    socket.on('end', () => (hangsUpWithin === undefined ? socket.end() : socket.destroy()));
    if (endsAfterMs !== undefined) setTimeout(() => socket.end(), endsAfterMs);
  };
}
