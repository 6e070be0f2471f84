/**
 * A multiplexed connection to one API server (HTTP/2, RFC 9113), with TLS.
 *
 * Uses a bare socket. `node:http2` takes 51 KB for a connection with two watches, and two HTTP/1.1 sockets take 26 KB
 * (with 500 of each). Bun's `fetch` allows 256 concurrent requests in the whole process, including watches.
 */
import type { Socket, SocketHandler } from 'bun';
import type { Clock } from '../../../clock/clock.ts';
import { ByteCollector } from '../byte-collector.ts';
import { nameFault } from '../certificate-name.ts';
import { NotProcessed, ProtocolError, reset } from '../connection-error.ts';
import type { HttpRequest } from '../round-tripper.ts';
import type { SocketTarget } from '../socket.ts';
import { Http2Response, STREAM_WINDOW, type ResponseConnection } from './response.ts';
import { FrameWriter } from './frame-writer.ts';
import {
  contentOf,
  DEFAULT_WINDOW,
  FLAG,
  frame,
  FRAME,
  FrameReader,
  MAX_FRAME_BYTES,
  MAX_WINDOW,
  numberFrame,
  numberIn,
  PREFACE,
  SETTING,
  settingsFrame,
  type Frame,
} from './frames.ts';
import { HeaderAssembler, type HeaderBlock } from './header-assembler.ts';
import { decodeHead, encodeHeaders } from './header-block.ts';
import { Liveness } from './liveness.ts';

/** Where to connect, always with TLS. */
type SecureTarget = SocketTarget & { readonly tls: NonNullable<SocketTarget['tls']> };

/** The TCP keepalive interval: a watch may be idle for hours. */
const KEEPALIVE_MS = 30_000;
/** The flow-control window of the connection, for all responses together. */
const CONNECTION_WINDOW = 16 * 1024 * 1024;
/** The maximum of bytes that are buffered until the server is verified. It sends its settings, and little else. */
const MAX_EARLY_BYTES = 64 * 1024;
/** After this time, requests that wait for the handshake may use another connection. */
const SLOW_HANDSHAKE_MS = 2_000;
const REFUSED_STREAM = 0x7;
/** The minimum that kube-apiserver allows. */
const DEFAULT_MAX_STREAMS = 100;
const MAX_STREAM_ID = 2 ** 31 - 1;
const CANCEL = 0x8;
const NO_ERROR = 0x0;
/** The ALPN protocol list in wire format: each name is preceded by its length. */
const PROTOCOLS = Buffer.from('\x02h2\x08http/1.1', 'latin1');

/** HTTP/1.1 headers that HTTP/2 replaces. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'transfer-encoding',
]);

/** The pool that a connection reports to. */
export interface ConnectionPool {
  /** The connection can accept another request, or will accept no more requests. */
  changed(): void;
  /** The server does not support HTTP/2, or violates it. */
  speaksHttp1(): void;
}

/** An HTTP/2 connection. */
export class Http2Connection implements ResponseConnection {
  readonly #serverName: string;
  readonly #pool: ConnectionPool;
  readonly #frames = new FrameReader();
  readonly #responses = new Map<number, Http2Response>();
  #socket: Socket<Http2Connection> | undefined;
  readonly #writer = new FrameWriter((error) => this.failed(error));
  readonly #liveness: Liveness;
  #nextId = 1;
  #maxStreams = DEFAULT_MAX_STREAMS;
  #initialSendWindow = DEFAULT_WINDOW;
  #sendWindow = DEFAULT_WINDOW;
  /** Bytes received since the last window update. */
  #received = 0;
  readonly #headers = new HeaderAssembler();
  #isGoingAway = false;
  #isVerified = false;
  /** Bytes that arrived before the server was verified. */
  readonly #early = new ByteCollector();
  #hasSettings = false;
  /** Whether a request was canceled during the handshake, or the handshake takes long. */
  #isSuspect = false;
  readonly #stopSuspecting: () => void;
  #failure: Error | undefined;

  private constructor(serverName: string, clock: Clock, pool: ConnectionPool) {
    this.#serverName = serverName;
    this.#pool = pool;
    this.#liveness = new Liveness(clock, this);
    this.#stopSuspecting = clock.after(SLOW_HANDSHAKE_MS, () => this.suspect());
  }

  /** Opens a connection. */
  static open(
    { host, port, tls }: SecureTarget,
    clock: Clock,
    pool: ConnectionPool,
  ): Http2Connection {
    const connection = new Http2Connection(tls.serverName, clock, pool);
    Bun.connect<Http2Connection>({
      hostname: host,
      port,
      tls: { ...tls, ALPNProtocols: PROTOCOLS },
      data: connection,
      socket: HANDLER,
    }).catch((error: unknown) => connection.failed(error));
    return connection;
  }

  /** Whether the server's settings have arrived. They are read after the handshake. */
  get isReady(): boolean {
    return this.#hasSettings;
  }

  /**
   * Whether it accepts another request now. False while the server does not respond on it: another connection may work.
   */
  get isUsable(): boolean {
    const isFree = this.#responses.size < this.#maxStreams;
    return this.isReady && !this.isOver && !this.#liveness.isDoubtful && isFree;
  }

  /** Whether requests should wait for its handshake. */
  get isPromising(): boolean {
    return !this.isReady && !this.isOver && !this.#isSuspect;
  }

  /** Whether it accepts no more requests. */
  get isOver(): boolean {
    return this.#failure !== undefined || this.#isGoingAway || this.#nextId >= MAX_STREAM_ID;
  }

  /** Whether the server allows no requests at all. */
  get allowsNoRequests(): boolean {
    return this.isReady && this.#maxStreams === 0 && this.#responses.size === 0;
  }

  /** Whether no request was sent on it yet. */
  get isUnused(): boolean {
    return this.#nextId === 1;
  }

  /** Why it ended. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Sends a request. The connection must be usable. */
  request({ method, url, headers, body, assertMaySend }: HttpRequest): Http2Response {
    const { host, pathname, search } = new URL(url);
    const response = new Http2Response(this.#nextId, this);
    this.#nextId += 2;
    response.sendWindow = this.#initialSendWindow;
    response.assertMaySend = assertMaySend;
    this.#responses.set(response.id, response);
    this.#liveness.use(true);
    const block = encodeHeaders([
      [':method', method],
      [':scheme', 'https'],
      [':authority', host],
      [':path', `${pathname}${search}`],
      ...Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name.toLowerCase())),
    ]);
    response.unsent = body === undefined ? undefined : Buffer.from(body, 'utf8');
    this.#writer.together(() => {
      for (const headerFrame of headerFrames(response.id, block, body === undefined))
        this.#send(headerFrame);
      this.#sendBody(response);
    });
    return response;
  }

  consumed(streamId: number, bytes: number): void {
    if (this.#responses.has(streamId)) {
      this.#send(numberFrame(FRAME.windowUpdate, streamId, bytes));
    }
  }

  canceled(streamId: number, hasHead: boolean): void {
    if (this.#failure !== undefined) return;
    this.#send(numberFrame(FRAME.resetStream, streamId, CANCEL));
    this.#ended(streamId);
    // The server may be slow or gone, and the kernel takes minutes to detect that.
    if (!hasHead && this.#failure === undefined) this.#liveness.doubt();
  }

  close(): void {
    this.failed(new Error('closed here'));
  }

  /** Accepts no more requests, and closes after the last one. */
  retire(): void {
    this.#isGoingAway = true;
    if (this.#responses.size === 0) this.failed(new NotProcessed('the connection is replaced'));
    this.#pool.changed();
  }

  /** Marks the handshake as slow, so that later requests may use another connection. */
  suspect(): void {
    if (this.isReady || this.#isSuspect) return;
    this.#isSuspect = true;
    this.#pool.changed();
  }

  connected(socket: Socket<Http2Connection>): void {
    // Bun cannot cancel a dial, so an unwanted connection is closed here.
    if (this.#failure !== undefined) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    this.#writer.connected(socket);
    socket.setKeepAlive(true, KEEPALIVE_MS);
  }

  /** Verifies the server after the handshake, and sends the preface. */
  handshakeCompleted(socket: Socket<Http2Connection>, success: boolean, error: Error | null): void {
    const fault =
      error ??
      (success && socket.authorized ? undefined : new Error('the handshake was not completed')) ??
      nameFault(socket.getPeerX509Certificate(), this.#serverName);
    if (fault !== undefined) {
      this.failed(fault);
      return;
    }
    if ((socket as { alpnProtocol?: unknown }).alpnProtocol !== 'h2') {
      this.#pool.speaksHttp1();
      this.close();
      return;
    }
    this.#send(
      Buffer.concat([
        PREFACE,
        settingsFrame([
          [SETTING.headerTableSize, 0],
          [SETTING.enablePush, 0],
          [SETTING.initialWindowSize, STREAM_WINDOW],
        ]),
        numberFrame(FRAME.windowUpdate, 0, CONNECTION_WINDOW - DEFAULT_WINDOW),
      ]),
    );
    this.#isVerified = true;
    this.#process(this.#early.take());
  }

  /**
   * Processes received bytes. Buffers them until the server is verified: with TLS 1.3, a server may send its settings
   * together with the end of its handshake, and the response to them must follow the preface.
   */
  received(bytes: Uint8Array): void {
    this.#liveness.heard();
    if (this.#isVerified) {
      this.#process(bytes);
      return;
    }
    if (this.#early.length + bytes.length > MAX_EARLY_BYTES) {
      this.failed(reset('the server sends too much before it is verified'));
      return;
    }
    this.#early.add(Buffer.from(bytes));
  }

  #process(bytes: Uint8Array): void {
    this.#writer.together(() => {
      try {
        for (const received of this.#frames.push(bytes)) {
          this.#take(received);
          if (this.#failure !== undefined) return;
        }
      } catch (error) {
        this.failed(error);
      }
    });
  }

  drain(): void {
    this.#writer.drain();
    this.#sendBodies();
  }

  sendPing(): void {
    this.#send(frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
  }

  failed(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = error instanceof Error ? error : new Error(String(error));
    if (error instanceof ProtocolError) this.#pool.speaksHttp1();
    this.#liveness.stop();
    this.#stopSuspecting();
    for (const response of this.#responses.values()) response.failed(this.#failure);
    this.#responses.clear();
    this.#writer.close();
    this.#early.take();
    this.#socket?.terminate();
    this.#pool.changed();
  }

  #take(received: Frame): void {
    const block = this.#headers.push(received);
    const isOfStream = received.type === FRAME.data || received.type === FRAME.headers;
    if (isOfStream && (received.streamId % 2 === 0 || received.streamId >= this.#nextId)) {
      throw new ProtocolError(`a frame for unknown stream ${received.streamId}`);
    }
    switch (received.type) {
      case FRAME.data:
        this.#takeData(received);
        break;
      case FRAME.headers:
      case FRAME.continuation:
        if (block !== undefined) this.#takeHeaders(block);
        break;
      case FRAME.resetStream:
        this.#takeReset(received);
        break;
      case FRAME.settings:
        this.#takeSettings(received);
        break;
      case FRAME.ping:
        if (received.payload.length !== 8) throw new ProtocolError('a ping does not have 8 bytes');
        if ((received.flags & FLAG.ack) === 0)
          this.#send(frame(FRAME.ping, FLAG.ack, 0, received.payload));
        else if (this.#liveness.pinged()) this.#pool.changed();
        break;
      case FRAME.goAway:
        this.#takeGoAway(received);
        break;
      case FRAME.windowUpdate:
        this.#takeWindowUpdate(received);
        break;
      case FRAME.pushPromise:
        throw new ProtocolError('the server pushes');
    }
  }

  #takeData(received: Frame): void {
    const { length } = received.payload;
    this.#received += length;
    if (this.#received >= CONNECTION_WINDOW / 2) {
      this.#send(numberFrame(FRAME.windowUpdate, 0, this.#received));
      this.#received = 0;
    }
    const response = this.#responses.get(received.streamId);
    if (response === undefined) return; // canceled
    if (response.status === 0) throw new ProtocolError('a body arrived before its headers');
    if (!response.received(contentOf(received), length)) {
      throw new ProtocolError('the server exceeds its flow-control window');
    }
    if ((received.flags & FLAG.endStream) !== 0) this.#completed(response);
  }

  #takeHeaders({ streamId, isEnd, bytes }: HeaderBlock): void {
    const { status, retryAfter } = decodeHead(bytes);
    const response = this.#responses.get(streamId);
    if (response === undefined) return; // canceled
    if (response.status === 0) {
      if (status === undefined) throw new ProtocolError('a response has no status');
      // 1xx: the final response follows.
      if (status >= 200) response.head(status, retryAfter);
      else if (isEnd) throw new ProtocolError('a response ends with an informational head');
    }
    if (isEnd) this.#completed(response);
  }

  #takeReset(received: Frame): void {
    const code = numberIn(received);
    const response = this.#responses.get(received.streamId);
    if (response === undefined) return;
    this.#ended(received.streamId);
    const message = `the server ended the request (HTTP/2 error ${code})`;
    response.failed(code === REFUSED_STREAM ? new NotProcessed(message) : reset(message));
  }

  #takeSettings({ flags, payload }: Frame): void {
    if ((flags & FLAG.ack) !== 0) return;
    if (payload.length % 6 !== 0) throw new ProtocolError('settings are truncated');
    for (let at = 0; at < payload.length; at += 6) {
      const value = payload.readUInt32BE(at + 2);
      const id = payload.readUInt16BE(at);
      if (id === SETTING.maxConcurrentStreams) this.#maxStreams = value;
      if (id === SETTING.initialWindowSize) this.#resizeWindows(value);
    }
    this.#send(frame(FRAME.settings, FLAG.ack, 0));
    this.#sendBodies();
    if (!this.#hasSettings) {
      this.#hasSettings = true;
      this.#stopSuspecting();
      this.#liveness.use(false);
    }
    this.#pool.changed();
  }

  #resizeWindows(value: number): void {
    if (value > MAX_WINDOW) throw new ProtocolError('a window is too large');
    const difference = value - this.#initialSendWindow;
    this.#initialSendWindow = value;
    for (const response of this.#responses.values()) response.sendWindow += difference;
  }

  #takeGoAway({ payload }: Frame): void {
    if (payload.length < 8) throw new ProtocolError('a GOAWAY is truncated');
    this.#isGoingAway = true;
    const last = payload.readUInt32BE(0) & 0x7f_ff_ff_ff;
    const code = payload.readUInt32BE(4);
    for (const [id, response] of this.#responses) {
      if (id <= last) continue;
      this.#responses.delete(id);
      response.failed(
        new NotProcessed(`the server is about to close the connection (HTTP/2 error ${code})`),
      );
    }
    if (this.#responses.size === 0) this.#goneAway();
    this.#pool.changed();
  }

  /** Closes the connection after a GOAWAY, when no request is in progress. */
  #goneAway(): void {
    this.failed(new NotProcessed('the server has closed the connection'));
  }

  #takeWindowUpdate(received: Frame): void {
    const value = numberIn(received) & 0x7f_ff_ff_ff;
    const response = this.#responses.get(received.streamId);
    if (received.streamId === 0) this.#sendWindow += value;
    else if (response !== undefined) response.sendWindow += value;
    if (Math.max(this.#sendWindow, response?.sendWindow ?? 0) > MAX_WINDOW) {
      throw new ProtocolError('a window is too large');
    }
    if (received.streamId === 0) this.#sendBodies();
    else if (response !== undefined) this.#sendBody(response);
  }

  #sendBodies(): void {
    for (const response of this.#responses.values()) this.#sendBody(response);
  }

  /** Sends as much of a body as the windows and the socket allow. */
  #sendBody(response: Http2Response): void {
    for (;;) {
      const { unsent } = response;
      if (unsent === undefined || this.#writer.isBlocked) return;
      const room = Math.min(this.#sendWindow, response.sendWindow, MAX_FRAME_BYTES);
      const bytes = unsent.subarray(0, Math.max(0, room));
      const isLast = bytes.length === unsent.length;
      if (bytes.length === 0 && !isLast) return;
      if (isLast && !this.#mayComplete(response)) return;
      this.#sendWindow -= bytes.length;
      response.sendWindow -= bytes.length;
      response.unsent = isLast ? undefined : unsent.subarray(bytes.length);
      this.#send(frame(FRAME.data, isLast ? FLAG.endStream : 0, response.id, bytes));
    }
  }

  /**
   * Reports whether the rest of a body may be sent, and cancels the request otherwise: the server may have granted the window
   * for it long after the request began. A server does not act on an incomplete body.
   */
  #mayComplete(response: Http2Response): boolean {
    try {
      response.assertMaySend?.();
      return true;
    } catch (error) {
      response.unsent = undefined;
      this.#send(numberFrame(FRAME.resetStream, response.id, CANCEL));
      this.#ended(response.id);
      response.failed(error instanceof Error ? error : new Error(String(error)));
      return false;
    }
  }

  #completed(response: Http2Response): void {
    // A server may respond before it has read the request.
    if (response.unsent !== undefined) {
      this.#send(numberFrame(FRAME.resetStream, response.id, NO_ERROR));
    }
    this.#ended(response.id);
    response.completed();
  }

  #ended(id: number): void {
    this.#responses.delete(id);
    if (this.#failure !== undefined) return;
    if (this.#responses.size === 0) {
      if (this.#isGoingAway) this.#goneAway();
      else this.#liveness.use(false);
    }
    this.#pool.changed();
  }

  #send(bytes: Uint8Array): void {
    this.#writer.send(bytes);
  }
}

/** Yields the frames of a request without its body: HEADERS, and CONTINUATION if the headers need more space. */
function* headerFrames(streamId: number, block: Buffer, isEnd: boolean): Generator<Buffer> {
  const endStream = isEnd ? FLAG.endStream : 0;
  for (let at = 0; at === 0 || at < block.length; at += MAX_FRAME_BYTES) {
    const end = at + MAX_FRAME_BYTES;
    const flags = (at === 0 ? endStream : 0) | (end >= block.length ? FLAG.endHeaders : 0);
    const type = at === 0 ? FRAME.headers : FRAME.continuation;
    yield frame(type, flags, streamId, block.subarray(at, end));
  }
}

const HANDLER: SocketHandler<Http2Connection> = {
  open: (socket) => socket.data.connected(socket),
  handshake: (socket, success, error) => socket.data.handshakeCompleted(socket, success, error),
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.drain(),
  close: (socket, error) => socket.data.failed(error ?? reset('the server ended the connection')),
  error: (socket, error) => socket.data.failed(error),
  connectError: (socket, error) => socket.data.failed(error),
};
