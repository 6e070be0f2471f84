/** Constants of the Linux ABI for netlink(7) and rtnetlink(7). They are the same on x86-64 and arm64. */

export const AF_NETLINK = 16;
export const SOCK_RAW = 3;
export const NETLINK_ROUTE = 0;
export const SOL_NETLINK = 270;
/** Requests error messages from the kernel. */
export const NETLINK_EXT_ACK = 11;

/** Message types. */
export const TYPE = {
  ERROR: 2,
  DONE: 3,
  NEWLINK: 16,
  GETLINK: 18,
  NEWADDR: 20,
  DELADDR: 21,
  GETADDR: 22,
  NEWROUTE: 24,
  GETROUTE: 26,
} as const;

/** Flags of requests. */
export const REQUEST = {
  REQUEST: 0x1,
  ACK: 0x4,
  DUMP: 0x300,
  EXCL: 0x200,
  CREATE: 0x400,
} as const;

/** Flags of answers. */
export const ANSWER = {
  /** The table changed while it was read. */
  DUMP_INTERRUPTED: 0x10,
  /** The acknowledgement repeats only the header of the request. */
  CAPPED: 0x100,
  /** The acknowledgement has attributes at its end. */
  ACK_ATTRIBUTES: 0x200,
} as const;

/** Attributes of an acknowledgement. */
export const ACK_MESSAGE = 1;
/** Attributes of a link. */
export const LINK_NAME = 3;
/** Attributes of an address. */
export const ADDRESS = { ADDRESS: 1, LOCAL: 2, CACHEINFO: 6, FLAGS: 8 } as const;

/** Attributes of a route. */
export const ROUTE_DESTINATION = 1;

/** Flags of an IPv6 address: no duplicate address detection, not preferred as a source, and no route for its prefix. */
export const ADDRESS_FLAG = { NODAD: 0x2, DEPRECATED: 0x20, NOPREFIXROUTE: 0x200 } as const;

export const SCOPE_GLOBAL = 0;
export const SCOPE_HOST = 254;
export const LINK_UP = 0x1;
/** The type of a route that ends on this machine. */
export const ROUTE_LOCAL = 2;
