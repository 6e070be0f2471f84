/**
 * An epoll instance. Each connection is added once, edge-triggered, for its whole lifetime. That saves calls of
 * epoll_ctl, because close() removes a descriptor automatically.
 */
import * as libc from './libc.ts';
import { Arena, errno, systemError } from './libc.ts';
import { EPOLL, EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_EVENT } from './linux.ts';

const MAX_EVENTS = 512;
const WORD_BYTES = 4;

const EVERYTHING = EPOLL.IN | EPOLL.PRI | EPOLL.OUT | EPOLL.RDHUP | EPOLL.ET;

/**
 * Watches descriptors and returns which are ready. Each event carries the descriptor and a generation. The kernel may
 * reuse a descriptor that was closed in the same batch; the generation identifies events of the old connection.
 */
export class Poller {
  #fd: number;
  readonly #events = new Arena(MAX_EVENTS * EPOLL_EVENT.words * WORD_BYTES);
  readonly #request = new Arena(EPOLL_EVENT.words * WORD_BYTES);

  constructor() {
    this.#fd = libc.epoll_create1(EPOLL_CLOEXEC);
    if (this.#fd < 0) throw systemError('epoll_create1', errno());
  }

  /** Watches every change of a connection (edge-triggered). Returns false if the kernel refuses. */
  watch(fd: number, generation: number): boolean {
    return this.#add(fd, generation, EVERYTHING);
  }

  /** Reports the descriptor as long as it is readable (level-triggered). */
  watchLevel(fd: number, generation: number): boolean {
    return this.#add(fd, generation, EPOLL.IN);
  }

  unwatch(fd: number): void {
    libc.epoll_ctl(this.#fd, EPOLL_CTL_DEL, fd, this.#request.address);
  }

  /** Waits for events, at most this long, and returns how many there are. */
  wait(timeoutMs: number): number {
    const count = libc.epoll_wait(this.#fd, this.#events.address, MAX_EVENTS, timeoutMs);
    return Math.max(0, count); // EINTR is the only possible error
  }

  /** Returns the flags of the event at this index. */
  events(index: number): number {
    return this.#events.words[index * EPOLL_EVENT.words] ?? 0;
  }

  fd(index: number): number {
    return this.#events.words[index * EPOLL_EVENT.words + EPOLL_EVENT.data] ?? -1;
  }

  generation(index: number): number {
    return this.#events.words[index * EPOLL_EVENT.words + EPOLL_EVENT.data + 1] ?? -1;
  }

  /** Closes the instance once. After that, the kernel may have given its number to another file. */
  close(): void {
    if (this.#fd >= 0) libc.close(this.#fd);
    this.#fd = -1;
  }

  #add(fd: number, generation: number, events: number): boolean {
    const { words, address } = this.#request;
    words[0] = events;
    words[EPOLL_EVENT.data] = fd;
    words[EPOLL_EVENT.data + 1] = generation;
    return libc.epoll_ctl(this.#fd, EPOLL_CTL_ADD, fd, address) === 0;
  }
}
