/**
 * Constants of the Linux ABI. They are the same on x86-64 and arm64, except {@link EPOLL_EVENT}.
 */

/** Error numbers that callers handle. */
export const ERRNO = {
  EINTR: 4,
  EBADF: 9,
  EAGAIN: 11,
  ENOMEM: 12,
  EPROTO: 71,
  EADDRNOTAVAIL: 99,
  ENETUNREACH: 101,
  ECONNABORTED: 103,
  ECONNRESET: 104,
  ENOBUFS: 105,
  ETIMEDOUT: 110,
  ECONNREFUSED: 111,
  EHOSTUNREACH: 113,
  EINPROGRESS: 115,
} as const;

/** Event flags of epoll. */
export const EPOLL = {
  IN: 0x1,
  PRI: 0x2,
  OUT: 0x4,
  ERR: 0x8,
  HUP: 0x10,
  RDHUP: 0x2000,
  ET: 0x80000000 | 0,
} as const;

/** Event flags of poll(2). */
export const POLLIN = 0x1;
export const POLLOUT = 0x4;

export const EPOLL_CLOEXEC = 0x80000;
export const EPOLL_CTL_ADD = 1;
export const EPOLL_CTL_DEL = 2;

/** Layout of struct epoll_event, in words of 4 bytes. It is packed on x86-64 only. */
export const EPOLL_EVENT =
  process.arch === 'x64' ? { words: 3, data: 1 } : ({ words: 4, data: 2 } as const);

export const AF_INET = 2;
export const AF_INET6 = 10;
export const SOCK_STREAM = 1;
export const SOCK_NONBLOCK = 0x800;
export const SOCK_CLOEXEC = 0x80000;
export const SHUT_WR = 1;

/** Flags of recv and send. */
export const MSG = { PEEK: 0x2, TRUNC: 0x20, NOSIGNAL: 0x4000 } as const;

export const SOL_SOCKET = 1;
export const SO = {
  REUSEADDR: 2,
  ERROR: 4,
  KEEPALIVE: 9,
  LINGER: 13,
  REUSEPORT: 15,
  RCVLOWAT: 18,
} as const;
export const IPPROTO_TCP = 6;
export const TCP = { NODELAY: 1, KEEPIDLE: 4, QUICKACK: 12 } as const;
export const IPPROTO_IPV6 = 41;
export const IPV6_V6ONLY = 26;

/** Flags of splice: move pages where possible, and do not block. */
export const SPLICE_FLAGS = 0x1 | 0x2;
export const O_NONBLOCK = 0x800;
export const O_CLOEXEC = 0x80000;
export const F_SETPIPE_SZ = 1031;
