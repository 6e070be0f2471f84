/**
 * Bun's own event loop, as a descriptor to wait for.
 *
 * The engine waits in an epoll instance of its own, and Bun's timers, messages, signals and sockets of the same thread
 * must go on. On Linux Bun's loop is an epoll instance too, and one such instance can be watched by another: so the engine
 * sleeps until its own sockets or Bun's have something to do. Only timers are not in Bun's instance.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const FDS = '/proc/self/fd';

/** Bun's types lack it. */
interface WithDescriptor {
  readonly fd?: number;
}

/** The epoll instance of Bun's loop in this thread. @throws Error if it cannot be found. */
export function findBunLoop(): number {
  // It is the one that watches a socket which Bun has just opened in this thread. An abstract name leaves no file.
  const name = `\0snicket-probe-${process.pid}-${crypto.randomUUID()}`;
  const probe = Bun.listen({ unix: name, socket: { data() {} } });
  try {
    const { fd } = probe as WithDescriptor;
    if (fd === undefined) throw new Error('this Bun does not say which descriptor a socket has');
    const watcher = readdirSync(FDS).find((candidate) => watches(candidate, fd));
    if (watcher === undefined) throw new Error(`no epoll instance in ${FDS} watches Bun's sockets`);
    return Number(watcher);
  } finally {
    probe.stop(true);
  }
}

function watches(candidate: string, fd: number): boolean {
  try {
    if (readlinkSync(`${FDS}/${candidate}`) !== 'anon_inode:[eventpoll]') return false;
    const watched = readFileSync(`/proc/self/fdinfo/${candidate}`, 'latin1');
    return new RegExp(`^tfd: +${fd} `, 'm').test(watched);
  } catch (error) {
    // Closed since the folder was read; the reader's own descriptor always is.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
