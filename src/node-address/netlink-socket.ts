/** Queries and changes links and addresses by netlink. The kernel answers within the call, so no call blocks. */
import * as libc from '../system/libc.ts';
import { Arena, errno, systemError } from '../system/libc.ts';
import { MSG, SOCK_CLOEXEC, SOCK_NONBLOCK } from '../system/linux.ts';
import { parseAcknowledgement, parseMessages, type NetlinkMessage } from './netlink-message.ts';
import {
  AF_NETLINK,
  ANSWER,
  NETLINK_EXT_ACK,
  NETLINK_ROUTE,
  SOCK_RAW,
  SOL_NETLINK,
  TYPE,
} from './rtnetlink.ts';

/** The kernel sends a long answer in parts of at most 32 KiB. */
const BUFFER_BYTES = 64 * 1024;
/** Maximum number of attempts to read a list that changes during the read. */
const MAX_READS = 10;

/** The error for a request that the kernel refused. `code` is the name of its errno. */
export class NetlinkRefusal extends Error {
  override readonly name = 'NetlinkRefusal';
  readonly code: string;

  constructor(code: string, text: string | undefined) {
    super(text === undefined ? code : `${code}: ${text}`);
    this.code = code;
  }
}

/** A netlink socket. */
export class NetlinkSocket implements Disposable {
  readonly #fd: number;
  readonly #arena = new Arena(BUFFER_BYTES);
  #sequence = 0;

  /** @throws the system's error, with its `code`. */
  constructor() {
    const type = SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC;
    this.#fd = libc.socket(AF_NETLINK, type, NETLINK_ROUTE);
    if (this.#fd < 0) throw systemError('socket of netlink', errno());
    this.#arena.words[0] = 1;
    // Kernels before 4.12 do not support it, and then refuse without a message.
    libc.setsockopt(this.#fd, SOL_NETLINK, NETLINK_EXT_ACK, this.#arena.address, 4);
  }

  /**
   * Sends a request and returns the messages that answer it, without the acknowledgement.
   *
   * @throws NetlinkRefusal
   */
  request(build: (sequence: number) => Buffer): NetlinkMessage[] {
    for (let reads = 1; ; reads++) {
      this.#sequence++;
      this.#send(build(this.#sequence));
      const { messages, isInterrupted } = this.#receive();
      if (!isInterrupted || reads === MAX_READS) return messages;
    }
  }

  [Symbol.dispose](): void {
    libc.close(this.#fd);
  }

  #send(message: Buffer): void {
    this.#arena.bytes.set(message);
    const sent = libc.send(this.#fd, this.#arena.address, message.length, 0);
    if (sent < 0) throw systemError('send to netlink', errno());
  }

  #receive(): { messages: NetlinkMessage[]; isInterrupted: boolean } {
    const messages: NetlinkMessage[] = [];
    let isInterrupted = false;
    for (;;) {
      for (const message of this.#datagram()) {
        if (message.sequence !== this.#sequence) continue;
        isInterrupted ||= (message.flags & ANSWER.DUMP_INTERRUPTED) !== 0;
        if (message.type === TYPE.DONE || message.type === TYPE.ERROR) {
          requireSuccess(message);
          return { messages, isInterrupted };
        }
        messages.push(message);
      }
    }
  }

  #datagram(): NetlinkMessage[] {
    const length = libc.recv(this.#fd, this.#arena.address, BUFFER_BYTES, MSG.TRUNC);
    if (length < 0) throw systemError('recv from netlink', errno());
    if (length > BUFFER_BYTES) throw new RangeError(`netlink: an answer of ${length} bytes`);
    // Copies the datagram, because the next one overwrites it.
    return parseMessages(Buffer.from(this.#arena.bytes.subarray(0, length)));
  }
}

function requireSuccess(message: NetlinkMessage): void {
  const { errno: number, text } = parseAcknowledgement(message);
  if (number !== 0) throw new NetlinkRefusal(systemError('netlink', number).code, text);
}
