/**
 * Opens and closes the sockets of the engine. Accepted sockets inherit the options of their listener, which saves calls.
 */
import type { Endpoint } from '../endpoint.ts';
import type { ListenOptions } from '../../net/listen-address.ts';
import {
  readEnd,
  SOCKADDR_BYTES,
  SOCKADDR_WORDS,
  writeAddress,
  type SocketEnd,
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

/** What calls read and write, at fixed places. One thread has one, and no two calls use it at once. */
const scratch = new Arena(4096);
const VALUE_AT = 0;
const LINGER_AT = 8;
const LENGTH_AT = 16;
const POLL_AT = 24;
const ADDRESS_AT = 64;
// struct linger: on, and no time at all. Closing is a reset then.
scratch.words.set([1, 0], LINGER_AT / WORD_BYTES);

function setOption(fd: number, level: number, option: number, value: number): number {
  scratch.words[VALUE_AT] = value;
  return libc.setsockopt(fd, level, option, scratch.address + VALUE_AT, WORD_BYTES);
}

/** Lets TCP ask after this much silence whether the peer is alive. */
export function setKeepalive(fd: number, keepaliveMs: number): void {
  setOption(fd, SOL_SOCKET, SO.KEEPALIVE, 1);
  setOption(fd, IPPROTO_TCP, TCP.KEEPIDLE, Math.max(1, Math.round(keepaliveMs / 1000)));
}

/** For how many bytes a socket is to be called readable; false if the kernel would not. What is there may be told anew. */
export function setWakeBytes(fd: number, bytes: number): boolean {
  return setOption(fd, SOL_SOCKET, SO.RCVLOWAT, bytes) === 0;
}

/** A listening socket. @throws the system's error, with its `code`. */
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

/** The next connection of a listener, or less than 0. Its address is {@link copyAccepted}'s until the next call. */
export function accept(listener: number): number {
  scratch.words[LENGTH_AT / WORD_BYTES] = SOCKADDR_BYTES;
  const address = scratch.address + ADDRESS_AT;
  return libc.accept4(listener, address, scratch.address + LENGTH_AT, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/** Copies the address of whom {@link accept} has just returned, to this word. */
export function copyAccepted(into: Int32Array, at: number): void {
  for (let word = 0; word < SOCKADDR_WORDS; word++) {
    into[at + word] = scratch.words[ADDRESS_AT / WORD_BYTES + word] ?? 0;
  }
}

/** An address as connect() takes it. */
interface PackedAddress {
  readonly words: Int32Array;
  readonly length: number;
}

/** Endpoints are few and dialled often: their addresses are written once. */
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

/** A socket for an endpoint, or less than 0 with errno. */
export function openFor(endpoint: Endpoint): number {
  const fd = libc.socket(endpoint.family === 'ipv4' ? AF_INET : AF_INET6, SOCKET_TYPE, 0);
  if (fd < 0) return fd;
  setOption(fd, IPPROTO_TCP, TCP.NODELAY, 1);
  // The acknowledgement that ends the handshake may wait and travel with the first bytes.
  setOption(fd, IPPROTO_TCP, TCP.QUICKACK, 0);
  return fd;
}

/** Begins to connect. Less than 0 with errno EINPROGRESS is the normal case. */
export function connect(fd: number, endpoint: Endpoint): number {
  const { words, length } = packedAddress(endpoint);
  for (let word = 0; word < SOCKADDR_WORDS; word++) {
    scratch.words[ADDRESS_AT / WORD_BYTES + word] = words[word] ?? 0;
  }
  return libc.connect(fd, scratch.address + ADDRESS_AT, length);
}

/** Whether a socket takes bytes, by the same measure as epoll: send() is content with less room. */
export function isWritable(fd: number): boolean {
  return isReady(fd, POLLOUT);
}

/** Whether a socket has bytes, a FIN or an error to read. An error stays on the socket. */
export function isReadable(fd: number): boolean {
  return isReady(fd, POLLIN);
}

/** Errors count, whatever is asked for. */
function isReady(fd: number, events: number): boolean {
  scratch.words[POLL_AT / WORD_BYTES] = fd;
  scratch.words[POLL_AT / WORD_BYTES + 1] = events; // and no events returned yet, in the upper half
  return libc.poll(scratch.address + POLL_AT, 1, 0) > 0;
}

/** The error that waits on a socket, which is taken off it; 0 if there is none. */
export function takeError(fd: number): number {
  scratch.words[LENGTH_AT / WORD_BYTES] = WORD_BYTES;
  const { address } = scratch;
  const failed = libc.getsockopt(fd, SOL_SOCKET, SO.ERROR, address + VALUE_AT, address + LENGTH_AT);
  return failed < 0 ? errno() : (scratch.words[VALUE_AT] ?? 0);
}

/** Closes with a reset: what is on its way is thrown away, and the peer gets to know. */
export function closeWithReset(fd: number): void {
  libc.setsockopt(fd, SOL_SOCKET, SO.LINGER, scratch.address + LINGER_AT, 2 * WORD_BYTES);
  libc.close(fd);
}

/** Our own end of a socket; good until the next call here. */
export function localEnd(fd: number): SocketEnd {
  scratch.words[LENGTH_AT / WORD_BYTES] = SOCKADDR_BYTES;
  scratch.bytes.fill(0, ADDRESS_AT, ADDRESS_AT + SOCKADDR_BYTES);
  const { address, bytes } = scratch;
  libc.getsockname(fd, address + ADDRESS_AT, address + LENGTH_AT);
  return readEnd(bytes, ADDRESS_AT);
}
