/** For tests only: a client that sends an urgent byte (RFC 6093). Bun cannot do that, so this file calls libc. */
import { dlopen, ptr } from 'bun:ffi';

const AF_INET = 2;
const SOCK_STREAM_CLOEXEC = 1 | 0x80000;
const SOCKADDR_BYTES = 16;
const MSG_OOB = 1;
const SHUT_WR = 1;

const libc = dlopen('libc.so.6', {
  socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
  connect: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
  send: { args: ['i32', 'ptr', 'u32', 'i32'], returns: 'i32' },
  shutdown: { args: ['i32', 'i32'], returns: 'i32' },
  close: { args: ['i32'], returns: 'i32' },
}).symbols;

/** A buffer of a page has a fixed address. JavaScriptCore may move a small typed array during the call. */
const memory = Buffer.from(new ArrayBuffer(4096));

/** Connects, sends the hello, `before`, an urgent byte and `behind`, and stays connected. */
export function urgentClient(
  port: number,
  options: { readonly hello: Uint8Array; readonly endsWithFin: boolean },
): Disposable {
  const fd = libc.socket(AF_INET, SOCK_STREAM_CLOEXEC, 0);
  memory.writeUInt16LE(AF_INET, 0);
  memory.writeUInt16BE(port, 2);
  memory.writeUInt32BE(0x7f000001, 4);
  if (libc.connect(fd, ptr(memory), SOCKADDR_BYTES) !== 0) throw new Error('cannot connect');
  const send = (bytes: Uint8Array, flags: number) => {
    memory.set(bytes);
    if (libc.send(fd, ptr(memory), bytes.length, flags) < 0) throw new Error('cannot send');
  };
  send(options.hello, 0);
  send(Buffer.from('before'), 0);
  send(Buffer.from('!'), MSG_OOB);
  send(Buffer.from('behind'), 0);
  if (options.endsWithFin) libc.shutdown(fd, SHUT_WR);
  return { [Symbol.dispose]: () => void libc.close(fd) };
}
