/**
 * Listens on every configured address, or fails with the reason. `:443` means the wildcard addresses of IPv4 and IPv6.
 * On a machine without IPv6, the IPv6 address is skipped with a warning. Any other failure, such as too many open
 * files, is an error.
 */
import { existsSync } from 'node:fs';
import { formatListenAddress, type ListenAddress } from './listen-address.ts';

/** The error for an address that the process cannot listen on. {@link adviceFor} returns a fix. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
  /** The error code of the system, such as EADDRINUSE, or `unknown`. */
  readonly code: string;
  readonly at: ListenAddress;

  constructor(at: ListenAddress, code: string, cause: unknown) {
    super(`cannot listen on ${formatListenAddress(at)} (${code})`, { cause });
    this.code = code;
    this.at = at;
  }
}

/** Returns a fix for the failure, as the second half of a message. */
export function adviceFor({ code, at }: CannotListen): string {
  switch (code) {
    case 'EADDRINUSE':
      return 'another program has that port: stop it, or choose another';
    case 'EADDRNOTAVAIL': {
      const prefix = at.address.includes(':') ? 128 : 32;
      const command = `ip address add ${at.address}/${prefix} dev lo scope host`;
      return `this machine has no such address: give it one (\`${command}\`), or choose another`;
    }
    case 'EACCES':
      return 'ports below 1024 need the capability NET_BIND_SERVICE: grant it, or choose a higher one';
    case 'EMFILE':
    case 'ENFILE':
      return 'raise the limit of open files';
    default:
      return 'choose another address';
  }
}

/** An engine or any other server that listens on one address per call. */
export interface Listener<Listening> {
  /** @throws the error of the system, with its `code`. */
  listen(at: ListenAddress): Listening;
}

const NO_IPV6_CODES = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

/**
 * Listens on each address and returns the results of `listen` (for an engine: the port) in the same order. Passes each
 * skipped address to `onSkipped`, so that the caller can log a warning.
 *
 * @throws CannotListen. The caller closes the listeners that are already open.
 */
export function listenOnAll<Listening>(
  listener: Listener<Listening>,
  addresses: readonly ListenAddress[],
  onSkipped: (skipped: CannotListen) => void,
): Listening[] {
  const all: Listening[] = [];
  for (const [index, at] of addresses.entries()) {
    try {
      all.push(listener.listen(at));
    } catch (error) {
      const failure = new CannotListen(at, codeOf(error, at), error);
      const isOptional = isWildcardPair(addresses[index - 1], at);
      if (!isOptional || !NO_IPV6_CODES.includes(failure.code)) throw failure;
      onSkipped(failure);
    }
  }
  return all;
}

/** Whether these two addresses are the pair that parseListenAddress returns for `:443`. */
function isWildcardPair(previous: ListenAddress | undefined, at: ListenAddress): boolean {
  return at.address === '::' && previous?.address === '0.0.0.0' && previous.port === at.port;
}

/** Bun.listen (1.4.4) reports no code if it cannot create the socket. /proc then shows whether the kernel has IPv6. */
function codeOf(error: unknown, { address }: ListenAddress): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    return error.code;
  }
  const lacksIPv6 = process.platform === 'linux' && !existsSync('/proc/net/if_inet6');
  return address.includes(':') && lacksIPv6 ? 'EAFNOSUPPORT' : 'unknown';
}
