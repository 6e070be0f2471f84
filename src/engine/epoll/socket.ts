/**
 * Opens and closes the sockets of the engine. Accepted sockets inherit the options of their listener, which saves
 * calls.
 */
import type { Endpoint } from '../endpoint.ts';
import type { ListenOptions } from '../../net/listen-address.ts';
import {
  readSocketAddress,
  SOCKADDR_BYTES,
  SOCKADDR_WORDS,
  writeAddress,
  type SocketAddress,
} from '../../system/socket-address.ts';
import * as libc from '../../system/libc.ts';
import { Arena, errno, systemError } from '../../system/libc.ts';
import {
  AF_INET,
  AF_INET6,
  IPPROTO_IPV6,
  IPPROTO_TCP,
  IPV6_V6ONLY,
  POLLIN,
  POLLOUT,
  SO,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_SOCKET,
  TCP,
} from '../../system/linux.ts';

const SOCKET_TYPE = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
const BACKLOG = 4096;
const WORD_BYTES = 4;

/**
 * Memory for arguments and results of calls, at fixed offsets. Each thread has its own, and no two calls use it at
 * once.
 */
const scratch = new Arena(4096);
const VALUE_AT = 0;
const LINGER_AT = 8;
const LENGTH_AT = 16;
const POLL_AT = 24;
const ADDRESS_AT = 64;
// struct linger: on, with a timeout of 0. Closing is then a reset.
scratch.words.set([1, 0], LINGER_AT / WORD_BYTES);

function setOption(fd: number, level: number, option: number, value: number): number {
  scratch.words[VALUE_AT] = value;
  return libc.setsockopt(fd, level, option, scratch.address + VALUE_AT, WORD_BYTES);
}

/** Enables TCP keepalive after this idle time. */
export function setKeepalive(fd: number, keepaliveMs: number): void {
  setOption(fd, SOL_SOCKET, SO.KEEPALIVE, 1);
  setOption(fd, IPPROTO_TCP, TCP.KEEPIDLE, Math.max(1, Math.round(keepaliveMs / 1000)));
}

/**
 * Sets the number of bytes from which a socket counts as readable. Returns false if the kernel refuses. Epoll may then
 * report the same bytes again.
 */
export function setWakeBytes(fd: number, bytes: number): boolean {
  return setOption(fd, SOL_SOCKET, SO.RCVLOWAT, bytes) === 0;
}

/** Opens a listening socket. @throws the system's error, with its `code`. */
export function openListener(options: ListenOptions, keepaliveMs: number): number {
  const { address, port, reusePort = false } = options;
  const length = writeAddress(scratch.bytes, ADDRESS_AT, address, port);
  const isIPv6 = length === SOCKADDR_BYTES;
  const fd = libc.socket(isIPv6 ? AF_INET6 : AF_INET, SOCKET_TYPE, 0);
  if (fd < 0) throw systemError('socket', errno());
  setOption(fd, SOL_SOCKET, SO.REUSEADDR, 1);
  if (reusePort) setOption(fd, SOL_SOCKET, SO.REUSEPORT, 1);
  if (isIPv6) setOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  setOption(fd, IPPROTO_TCP, TCP.NODELAY, 1);
  setKeepalive(fd, keepaliveMs);
  const call =
    libc.bind(fd, scratch.address + ADDRESS_AT, length) < 0
      ? 'bind'
      : libc.listen(fd, BACKLOG) < 0
        ? 'listen'
        : undefined;
  if (call === undefined) return fd;
  const error = systemError(`${call} ${address}:${port}`, errno());
  libc.close(fd);
  throw error;
}

/**
 * Accepts the next connection of a listener. Returns less than 0 with errno if there is none. {@link copyAccepted} has
 * its address until the next call.
 */
export function accept(listener: number): number {
  scratch.words[LENGTH_AT / WORD_BYTES] = SOCKADDR_BYTES;
  const address = scratch.address + ADDRESS_AT;
  return libc.accept4(listener, address, scratch.address + LENGTH_AT, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/** Copies the address of the client that {@link accept} has just returned to this word. */
export function copyAccepted(into: Int32Array, at: number): void {
  for (let word = 0; word < SOCKADDR_WORDS; word++) {
    into[at + word] = scratch.words[ADDRESS_AT / WORD_BYTES + word] ?? 0;
  }
}

/** A socket address in the form that connect() takes. */
interface PackedAddress {
  readonly words: Int32Array;
  readonly length: number;
}

/** Packed addresses by endpoint. Endpoints are few and dialed often. */
const packed = new WeakMap<Endpoint, PackedAddress>();

function packedAddress(endpoint: Endpoint): PackedAddress {
  const known = packed.get(endpoint);
  if (known !== undefined) return known;
  const words = new Int32Array(SOCKADDR_WORDS);
  const length = writeAddress(Buffer.from(words.buffer), 0, endpoint.address, endpoint.port);
  const address = { words, length };
  packed.set(endpoint, address);
  return address;
}

/** Opens a socket for an endpoint. Returns less than 0 with errno on failure. */
export function openFor(endpoint: Endpoint): number {
  const fd = libc.socket(endpoint.family === 'ipv4' ? AF_INET : AF_INET6, SOCKET_TYPE, 0);
  if (fd < 0) return fd;
  setOption(fd, IPPROTO_TCP, TCP.NODELAY, 1);
  // Lets the acknowledgement that ends the handshake travel with the first bytes.
  setOption(fd, IPPROTO_TCP, TCP.QUICKACK, 0);
  return fd;
}

/** Starts to connect. Returning less than 0 with errno EINPROGRESS is the normal case. */
export function connect(fd: number, endpoint: Endpoint): number {
  const { words, length } = packedAddress(endpoint);
  for (let word = 0; word < SOCKADDR_WORDS; word++) {
    scratch.words[ADDRESS_AT / WORD_BYTES + word] = words[word] ?? 0;
  }
  return libc.connect(fd, scratch.address + ADDRESS_AT, length);
}

/** Reports whether a socket is writable by the criterion of epoll. send() accepts bytes with less space. */
export function isWritable(fd: number): boolean {
  return isReady(fd, POLLOUT);
}

/** Reports whether a socket has bytes, a FIN or an error to read. An error stays on the socket. */
export function isReadable(fd: number): boolean {
  return isReady(fd, POLLIN);
}

/** Reports whether one of these events is pending. Errors always count. */
function isReady(fd: number, events: number): boolean {
  scratch.words[POLL_AT / WORD_BYTES] = fd;
  scratch.words[POLL_AT / WORD_BYTES + 1] = events; // clears the returned events, in the upper half
  return libc.poll(scratch.address + POLL_AT, 1, 0) > 0;
}

/** Returns and clears the pending error of a socket, 0 if there is none. */
export function takeError(fd: number): number {
  scratch.words[LENGTH_AT / WORD_BYTES] = WORD_BYTES;
  const { address } = scratch;
  const failed = libc.getsockopt(fd, SOL_SOCKET, SO.ERROR, address + VALUE_AT, address + LENGTH_AT);
  return failed < 0 ? errno() : (scratch.words[VALUE_AT] ?? 0);
}

/** Closes a socket with a reset, which discards bytes in flight and notifies the peer. */
export function closeWithReset(fd: number): void {
  libc.setsockopt(fd, SOL_SOCKET, SO.LINGER, scratch.address + LINGER_AT, 2 * WORD_BYTES);
  libc.close(fd);
}

/** Returns the local address of a socket. Valid until the next call here. */
export function localAddressOf(fd: number): SocketAddress {
  scratch.words[LENGTH_AT / WORD_BYTES] = SOCKADDR_BYTES;
  scratch.bytes.fill(0, ADDRESS_AT, ADDRESS_AT + SOCKADDR_BYTES);
  const { address, bytes } = scratch;
  libc.getsockname(fd, address + ADDRESS_AT, address + LENGTH_AT);
  return readSocketAddress(bytes, ADDRESS_AT);
}
