/**
 * Finds the event loop of Bun as a descriptor to wait for.
 *
 * The engine waits in its own epoll instance, while Bun's timers, messages, signals and sockets in the same thread must
 * keep working. On Linux, Bun's loop is an epoll instance too, and one epoll instance can watch another. So the engine
 * sleeps until one of its own sockets or one of Bun's is ready. Only timers are not part of Bun's instance.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const FDS = '/proc/self/fd';

/** Bun's types lack this property. */
interface WithDescriptor {
  readonly fd?: number;
}

/** Returns the epoll instance of Bun's loop in this thread. @throws Error if it cannot be found. */
export function findBunLoop(): number {
  // It is the instance that watches a socket which Bun has just opened in this thread. An abstract name creates no
  // file.
  const name = `\0snicket-probe-${process.pid}-${crypto.randomUUID()}`;
  const probe = Bun.listen({ unix: name, socket: { data() {} } });
  try {
    const { fd } = probe as WithDescriptor;
    if (fd === undefined)
      throw new Error('this version of Bun does not expose the descriptor of a socket');
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
    // Closed since the folder was read, like the descriptor that read the folder.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
