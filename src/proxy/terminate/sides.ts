/**
 * The two sides of a terminated connection. They extend the sides of engine `bun` for TLS: a pod accepts no bytes
 * before its handshake is complete, and closing does not wait for the peer.
 */
import type { Socket } from 'bun';
import { ClientSide, UpstreamSide } from '../../engine/bun/side.ts';

/** The phase of a connection. `handshake`: the edge is connected, and the handshake of the pod is in progress. */
type Phase = 'hello' | 'dialing' | 'handshake' | 'joined' | 'refused' | 'over';

/** The side of the pod. Its socket is plain TCP at first, and TLS on top of it from `handshake` on. */
export class PodSide extends ClientSide {
  declare peer: EdgeSide | null;
  phase: Phase = 'hello';
  /** Whether TLS has taken over the plain socket. That socket still reports what it reads, which is ciphertext. */
  isUpgraded = false;
  /** The protocols that the pod offers, in wire format. Undefined if it offers none. */
  offers: Buffer | undefined = undefined;

  /** Accepts no bytes before the handshake is complete, so that the relay buffers them and pauses the edge. */
  override write(bytes: Uint8Array): number {
    return this.phase === 'joined' || this.phase === 'refused' ? super.write(bytes) : 0;
  }

  override close(closeMode: 'close' | 'reset'): void {
    if (this.closed) return;
    this.closed = true; // first: Bun calls the close handler from within
    if (this.isUpgraded) closeTls(this.socket, closeMode, this.peer?.sawFin === true);
    else if (closeMode === 'reset') this.socket?.terminate();
    else this.socket?.end();
  }
}

/** The side of the edge. Each dial creates a new one. */
export class EdgeSide extends UpstreamSide {
  declare readonly peer: PodSide;
  /** Whether the certificate of the edge was verified. Before that, the edge receives no bytes. */
  verified = false;

  override write(bytes: Uint8Array): number {
    return this.verified ? super.write(bytes) : 0;
  }

  override close(closeMode: 'close' | 'reset'): void {
    if (this.closed) return;
    this.closed = true;
    closeTls(this.socket, closeMode, this.peer.sawFin);
  }
}

/**
 * Closes a TLS socket. `end()` would wait for the close_notify of the peer, perhaps forever, so this function sends its
 * own and closes. A close_notify states that nothing was truncated (RFC 8446 section 6.1), so it is only sent if the
 * other side has ended. Without it, `close()` sends only a FIN.
 */
function closeTls(
  socket: Socket<unknown> | null,
  closeMode: 'close' | 'reset',
  hasOtherEnded: boolean,
): void {
  if (closeMode === 'reset') {
    socket?.terminate();
    return;
  }
  if (hasOtherEnded) socket?.shutdown();
  socket?.close();
}
