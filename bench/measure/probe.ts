/** Connects with a server name repeatedly until a connection reaches the backend. */
import { hello } from '../../src/wire/hello/hello-builder.ts';

/** Pause between two attempts. The measured time may be too long by this. */
const PAUSE_MS = 1;
const ATTEMPT_MS = 2_000;
const DEADLINE_MS = 20_000;

/** As in bench/c/hello.c: announces that plain bytes follow the hello. */
const MARK = 'snicket-bench-plain-bytes-follow';
const RANDOM_AT = 11;

/** As in bench/c/stream.h: the sizes of the request and of the response, in eight bytes each. */
const ONE_BYTE_REQUEST = Buffer.from([...Buffer.alloc(8), 1, ...Buffer.alloc(7)]);

/** Resolves when a request to this name is answered. */
export async function probeUntilRouted(
  port: number,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const began = performance.now();
  while (performance.now() - began < DEADLINE_MS) {
    signal.throwIfAborted();
    if (await isAnswered(port, name)) return;
    await Bun.sleep(PAUSE_MS);
  }
  throw new Error(`no answer from ${name} at 127.0.0.1:${port} within ${DEADLINE_MS} ms`);
}

/** The backend answers with one byte, 0. An alert of the gateway begins with another byte. */
async function isAnswered(port: number, name: string): Promise<boolean> {
  const greeting = hello({ serverName: name });
  greeting.write(MARK, RANDOM_AT, 'latin1');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ATTEMPT_MS);
  try {
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        data: (_socket, bytes) => resolve(bytes[0] === 0),
        close: () => resolve(false),
        error: () => resolve(false),
      },
    });
    socket.write(Buffer.concat([greeting, ONE_BYTE_REQUEST]));
    const answered = await promise;
    socket.end();
    return answered;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return false;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
