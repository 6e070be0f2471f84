/**
 * One epoll instance. Everything is watched edge-triggered, once and for its whole life: no call is spent on changing
 * one's mind, and close() takes a descriptor out by itself.
 */
import * as libc from './libc.ts';
import { Arena, errno, systemError } from './libc.ts';
import { EPOLL, EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_EVENT } from './linux.ts';

const MAX_EVENTS = 512;
const WORD_BYTES = 4;

const EVERYTHING = EPOLL.IN | EPOLL.PRI | EPOLL.OUT | EPOLL.RDHUP | EPOLL.ET;

/**
 * What is ready, of what is watched. Each event carries the descriptor and a generation: a descriptor that was closed and
 * given anew in the same batch has another generation, and what was meant for the old one is told apart by it.
 */
export class Poller {
  #fd: number;
  readonly #events = new Arena(MAX_EVENTS * EPOLL_EVENT.words * WORD_BYTES);
  readonly #request = new Arena(EPOLL_EVENT.words * WORD_BYTES);

  constructor() {
    this.#fd = libc.epoll_create1(EPOLL_CLOEXEC);
    if (this.#fd < 0) throw systemError('epoll_create1', errno());
  }

  /** Tells about every change of a connection; false if the kernel would not. */
  watch(fd: number, generation: number): boolean {
    return this.#add(fd, generation, EVERYTHING);
  }

  /** Tells again and again for as long as there is something to read. */
  watchLevel(fd: number, generation: number): boolean {
    return this.#add(fd, generation, EPOLL.IN);
  }

  unwatch(fd: number): void {
    libc.epoll_ctl(this.#fd, EPOLL_CTL_DEL, fd, this.#request.address);
  }

  /** How many events there are, after at most this time. */
  wait(timeoutMs: number): number {
    const count = libc.epoll_wait(this.#fd, this.#events.address, MAX_EVENTS, timeoutMs);
    return Math.max(0, count); // EINTR is the only error there can be
  }

  /** Of the event at this place: what is ready. */
  events(index: number): number {
    return this.#events.words[index * EPOLL_EVENT.words] ?? 0;
  }

  fd(index: number): number {
    return this.#events.words[index * EPOLL_EVENT.words + EPOLL_EVENT.data] ?? -1;
  }

  generation(index: number): number {
    return this.#events.words[index * EPOLL_EVENT.words + EPOLL_EVENT.data + 1] ?? -1;
  }

  /** Once is enough: by the second time the number may be somebody else's. */
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
