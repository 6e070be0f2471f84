/**
 * For tests only: an HTTP/2 server that is scripted frame by frame.
 */
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';
import type { Pair } from '../../../net/testing/certificates.ts';
import { FrameReader, PREFACE, settingsFrame, type Frame } from '../http2/frames.ts';

/** A running server. */
export interface ScriptedServer {
  readonly sockets: readonly TLSSocket[];
  readonly server: Server;
  /** Its URL. */
  readonly at: string;
}

/**
 * Called for each frame of a client, with a function that sends bytes, and the number of the connection. The first
 * connection is 1.
 */
export type OnFrame = (frame: Frame, send: (bytes: Buffer) => void, connection: number) => void;

/** Starts a server. By itself it sends only its settings. */
export async function startScriptedServer(
  { cert, key }: Pair,
  onFrame: OnFrame,
): Promise<ScriptedServer> {
  const sockets: TLSSocket[] = [];
  const server = createServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    const number = sockets.push(socket);
    if (socket.alpnProtocol !== 'h2') return;
    const reader = new FrameReader();
    let preface = PREFACE.length;
    socket.on('error', () => socket.destroy());
    socket.write(settingsFrame([]));
    socket.on('data', (bytes: Buffer) => {
      const rest = bytes.subarray(Math.min(preface, bytes.length));
      preface -= bytes.length - rest.length;
      for (const read of reader.push(rest)) {
        onFrame(read, (response) => void socket.write(response), number);
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  return { sockets, server, at: `https://127.0.0.1:${port}` };
}
