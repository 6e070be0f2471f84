/**
 * The two ends of a terminated connection. They are the ends that engine `bun` relays between, and what TLS adds: a pod
 * that is no partner before its handshake is complete, and a way to close that waits for nobody.
 */
import type { Socket } from 'bun';
import { ClientSide, UpstreamSide } from '../../engine/bun/side.ts';

/** Where a connection is in its life. `greeting`: the edge is there, the pod's handshake goes on. */
export type Phase = 'hello' | 'dialling' | 'greeting' | 'joined' | 'refused' | 'over';

/** The pod's side. Its socket is a plain one at first, and from `greeting` on the one that speaks TLS over it. */
export class PodSide extends ClientSide {
  declare peer: EdgeSide | null;
  phase: Phase = 'hello';
  /** The plain socket was handed to TLS: it still reports what it sees, which is ciphertext. */
  isUpgraded = false;
  /** What the pod offers, in the form of the wire; nothing if it offers nothing. */
  offers: Buffer | undefined = undefined;

  /** Takes nothing before the handshake is complete, so that the relay keeps it and stops the edge. */
  override write(bytes: Uint8Array): number {
    return this.phase === 'joined' || this.phase === 'refused' ? super.write(bytes) : 0;
  }

  override close(how: 'close' | 'reset'): void {
    if (this.closed) return;
    this.closed = true; // first: Bun calls the close handler from within
    if (this.isUpgraded) closeTls(this.socket, how, this.peer?.sawFin === true);
    else if (how === 'reset') this.socket?.terminate();
    else this.socket?.end();
  }
}

/** The edge's side. A new one for each dial. */
export class EdgeSide extends UpstreamSide {
  declare readonly peer: PodSide;
  /** Its certificate is the one we want. Before this nothing is sent, whatever happens. */
  verified = false;

  override write(bytes: Uint8Array): number {
    return this.verified ? super.write(bytes) : 0;
  }

  override close(how: 'close' | 'reset'): void {
    if (this.closed) return;
    this.closed = true;
    closeTls(this.socket, how, this.peer.sawFin);
  }
}

/**
 * `end()` would wait for the peer's close_notify, perhaps for ever: say ours, and go. Ours says that nothing was cut short
 * (RFC 8446 section 6.1), so it is only said where the other side has ended; without it `close()` is a FIN and no more.
 */
function closeTls(
  socket: Socket<unknown> | null,
  how: 'close' | 'reset',
  hasOtherEnded: boolean,
): void {
  if (how === 'reset') {
    socket?.terminate();
    return;
  }
  if (hasOtherEnded) socket?.shutdown();
  socket?.close();
}
