/**
 * The handshake with the pod: reads its hello, requests a dial of the edge, and answers with the current certificate
 * and the protocol that the edge chose.
 */
import type { Socket, SocketHandler, TLSOptions, TLSUpgradeOptions } from 'bun';
import type { Relay } from '../../engine/bun/relay.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Counters } from '../../engine/counters.ts';
import type { Limits } from '../../engine/limits.ts';
import { REASON } from '../../engine/reasons.ts';
import { ALERT_RECORDS } from '../../wire/alert.ts';
import { ClientHello } from '../../wire/hello/client-hello.ts';
import { alertFor, type HelloOutcome, type HelloRefusal } from '../../wire/outcome.ts';
import type { ServingCertificate } from '../credentials/serving-certificate.ts';
import { encodeAlpn } from './alpn.ts';
import { isBrokenSession } from './broken-session.ts';
import type { PodSide } from './sides.ts';

/**
 * Number of bytes that a pod may send while the edge is being dialed. A pod that waits for an answer to its hello sends
 * none.
 */
const PAUSE_WHILE_DIALING_BYTES = 32 * 1024;

interface PodHandshakeOptions {
  readonly certificate: () => ServingCertificate;
  readonly counters: Counters;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly relay: Relay;
  /** Called when the hello is complete. */
  readonly dial: (pod: PodSide) => void;
  /** Called when the handshake is complete. */
  readonly finished: (pod: PodSide) => void;
  readonly end: (pod: PodSide, reason: number, closeMode: 'close' | 'reset') => void;
  readonly fault: (pod: PodSide, error: unknown) => void;
}

/** The options of Bun 1.4 that its types lack; see terminator.ts. */
interface ServerUpgradeOptions extends TLSUpgradeOptions<PodSide> {
  readonly isServer: true;
  /** The bytes that were already read. Bun copies them. */
  readonly initialData: Uint8Array;
}

/**
 * Refusals to ignore, because the proxy does not route by server name. Some clients that dial an address send it as the
 * server name (RFC 6066 forbids that; old OpenSSL and Python allow it).
 */
const IGNORED_REFUSALS: ReadonlySet<HelloOutcome> = new Set<HelloRefusal>([
  'server_name_ip_literal',
  'server_name_trailing_dot',
  'server_name_not_dns',
]);

/** The handshakes with pods. */
export class PodHandshake {
  readonly #options: PodHandshakeOptions;
  readonly #hello = new ClientHello();
  readonly #handlers: SocketHandler<PodSide>;
  readonly #handshakeFailed: number;
  readonly #handshakeTimeout: number;

  constructor(options: PodHandshakeOptions) {
    this.#options = options;
    this.#handshakeFailed = options.counters.reason('client_handshake_failed');
    this.#handshakeTimeout = options.counters.reason('client_handshake_timeout');
    this.#handlers = this.#podHandlers();
  }

  /** Handles bytes of a pod in plaintext. */
  received(pod: PodSide, chunk: Uint8Array): void {
    switch (pod.phase) {
      case 'hello':
        pod.append(chunk);
        this.#read(pod);
        return;
      case 'dialing':
        pod.append(chunk);
        if (pod.firstBytes >= PAUSE_WHILE_DIALING_BYTES) pod.pause();
        this.#options.relay.hold(pod, chunk.length);
        return;
      case 'handshake':
      case 'joined':
      case 'refused':
      case 'over':
        return;
    }
  }

  /**
   * Continues once the edge is connected: TLS takes over the pod's socket, starting with the hello that was already
   * read.
   */
  answer(pod: PodSide, protocol: Buffer | undefined): void {
    const { certificate, key } = this.#options.certificate();
    const { socket, first } = pod;
    if (socket === null || first === null) return;
    const tls: TLSOptions = { cert: certificate, key };
    if (protocol !== undefined) tls.ALPNProtocols = protocol;
    const options: ServerUpgradeOptions = {
      data: pod,
      tls,
      socket: this.#handlers,
      isServer: true,
      initialData: first.subarray(0, pod.firstBytes),
    };
    pod.phase = 'handshake';
    pod.deadlineMs = this.#options.clock.nowMs() + this.#options.limits.helloTimeoutMs;
    pod.isUpgraded = true;
    pod.paused = false;
    pod.first = null;
    this.#options.relay.release(pod);
    try {
      socket.upgradeTLS<PodSide>(options);
    } catch (error) {
      pod.isUpgraded = false; // the socket is still plain TCP
      this.#options.fault(pod, error);
    }
  }

  /**
   * Ends a pod that has timed out. A refused pod has its answer. A pod whose edge is being dialed has the timeout of
   * the dial.
   */
  timedOut(pod: PodSide): void {
    const { end } = this.#options;
    switch (pod.phase) {
      case 'hello':
        end(pod, REASON.hello_timeout, 'close');
        return;
      case 'handshake':
        end(pod, this.#handshakeTimeout, 'reset');
        return;
      case 'refused':
        end(pod, pod.reason, 'close');
        return;
      case 'dialing':
      case 'joined':
      case 'over':
        return;
    }
  }

  #read(pod: PodSide): void {
    if (pod.first === null) return;
    const outcome = this.#hello.read(pod.first, pod.firstBytes);
    if (outcome === 'incomplete') return;
    if (outcome !== 'hello' && !IGNORED_REFUSALS.has(outcome)) {
      this.#refuse(pod, outcome);
      return;
    }
    // TLS refuses a malformed list later.
    pod.offers = encodeAlpn(this.#hello.alpnProtocols() ?? []);
    this.#options.dial(pod);
  }

  /** Refuses a pod with an alert, and waits for the pod to close: closing with unread bytes would destroy the alert. */
  #refuse(pod: PodSide, refusal: HelloRefusal): void {
    const { counters, clock, limits } = this.#options;
    const alert = alertFor(refusal);
    pod.phase = 'refused';
    pod.reason = counters.reason(refusal);
    pod.first = null;
    counters.fail(pod.reason, pod.row);
    if (alert !== undefined) pod.write(ALERT_RECORDS[alert]);
    pod.sendFin();
    pod.deadlineMs = clock.nowMs() + limits.lingerMs;
  }

  #podHandlers(): SocketHandler<PodSide> {
    const { relay, end, fault } = this.#options;
    return {
      binaryType: 'uint8array',
      // Bun calls this within upgradeTLS, and perhaps the next handlers too.
      open: (socket) => void (socket.data.socket = socket),
      handshake: (socket, success) => {
        const pod = socket.data;
        if (pod.phase !== 'handshake') return;
        if (success) this.#join(pod, socket);
        else end(pod, this.#handshakeFailed, 'close');
      },
      data: (socket, chunk) => {
        const { data: pod } = socket;
        if (!pod.closed && pod.peer !== null) relay.pass(pod, pod.peer, chunk);
      },
      drain: (socket) => {
        if (socket.data.phase === 'joined') relay.drained(socket.data);
      },
      end: (socket) => {
        const pod = socket.data;
        if (pod.closed) return;
        if (pod.phase === 'joined' && pod.peer !== null) relay.fin(pod, pod.peer);
        else end(pod, this.#handshakeFailed, 'close');
      },
      close: (socket, error) => {
        const pod = socket.data;
        if (pod.closed) return;
        if (pod.phase === 'joined' && pod.peer !== null) {
          relay.closed(pod, pod.peer, error);
          return;
        }
        pod.closed = true;
        end(pod, this.#handshakeFailed, 'reset');
      },
      // Bun calls this with exceptions of handlers, and when a TLS session breaks. In the latter case it closes the
      // socket too.
      error: (socket, error) => {
        if (!isBrokenSession(error)) fault(socket.data, error);
      },
    };
  }

  /** Joins a pod to its edge. Bytes that the edge has sent meanwhile, as HTTP/2 does, were buffered and go first. */
  #join(pod: PodSide, socket: Socket<PodSide>): void {
    pod.phase = 'joined';
    this.#options.finished(pod);
    socket.setKeepAlive(true, this.#options.limits.keepaliveMs);
    this.#options.relay.drained(pod);
  }
}
