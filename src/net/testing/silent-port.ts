/**
 * For tests only: a port of loopback that does not answer connection attempts, like a host that is down. Its backlog is
 * full, so Linux drops each SYN. Bun has no option for the backlog, so this file calls libc.
 */
import { dlopen, ptr } from 'bun:ffi';

const AF_INET = 2;
const SOCK_STREAM_CLOEXEC = 1 | 0x80000;
const SOCKADDR_BYTES = 16;
const LENGTH_AT = 64;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
const ONE_AT = 128;

const libc = dlopen('libc.so.6', {
  socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
  setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
  bind: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
  listen: { args: ['i32', 'i32'], returns: 'i32' },
  connect: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
  getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
  close: { args: ['i32'], returns: 'i32' },
}).symbols;

/** A buffer of a page has a fixed address. JavaScriptCore may move a small typed array during the call. */
const memory = new DataView(new ArrayBuffer(4096));

/**
 * Opens a silent port until it is disposed of.
 * @param port - A port without a listener. Default: any free port.
 */
export function silentPort(port = 0): { readonly port: number } & Disposable {
  const address = ptr(memory);
  const listener = libc.socket(AF_INET, SOCK_STREAM_CLOEXEC, 0);
  const filler = libc.socket(AF_INET, SOCK_STREAM_CLOEXEC, 0);
  memory.setUint16(0, AF_INET, true);
  memory.setUint16(2, port);
  memory.setUint32(4, 0x7f000001);
  memory.setUint32(LENGTH_AT, SOCKADDR_BYTES, true);
  memory.setUint32(ONE_AT, 1, true);
  const failed =
    // Connections of the previous listener may be in TIME_WAIT.
    libc.setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, ptr(memory, ONE_AT), 4) +
    libc.bind(listener, address, SOCKADDR_BYTES) +
    libc.listen(listener, 0) +
    libc.getsockname(listener, address, ptr(memory, LENGTH_AT)) +
    libc.connect(filler, address, SOCKADDR_BYTES); // a backlog of 0 holds one connection, this one
  if (failed !== 0) throw new Error('cannot open a port with a full backlog');
  return {
    port: memory.getUint16(2),
    [Symbol.dispose]() {
      libc.close(filler);
      libc.close(listener);
    },
  };
}
