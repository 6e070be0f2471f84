/**
 * Listens on addresses as a person gave them: all of them, or the reason why not. `:443` is every address, of IPv4 and
 * of IPv6, and a machine without IPv6 has served them all with the half of IPv4. That half alone may be missing, and
 * only for want of IPv6: a process with no descriptors left has to hear that.
 */
import { existsSync } from 'node:fs';
import { formatListenAddress, type ListenAddress } from './listen-address.ts';

/** An address that cannot be had. The message lacks the advice: see {@link adviceFor}. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
  /** The system's, such as EADDRINUSE; `unknown` if there was none. */
  readonly code: string;
  readonly at: ListenAddress;

  constructor(at: ListenAddress, code: string, cause: unknown) {
    super(`cannot listen on ${formatListenAddress(at)} (${code})`, { cause });
    this.code = code;
    this.at = at;
  }
}

/** What to do about it, as the second half of a sentence. */
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
      return 'allow more open files';
    default:
      return 'choose another address';
  }
}

/** An engine, or anything else that listens on one address at a time. */
export interface Listener<Listening> {
  /** @throws the system's error, with its `code`. */
  listen(at: ListenAddress): Listening;
}

const WITHOUT_IPV6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

/**
 * Listens on each address and gives what `listen` gave (an engine: the port), in their order and without those that
 * were skipped; `onSkipped` hears of these, for a warning.
 *
 * @throws CannotListen; what was begun is left to the caller.
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
      const isHalf = isOtherHalf(addresses[index - 1], at);
      if (!isHalf || !WITHOUT_IPV6.includes(failure.code)) throw failure;
      onSkipped(failure);
    }
  }
  return all;
}

/** Whether these two are what parseListenAddress makes of `:443`. */
function isOtherHalf(before: ListenAddress | undefined, at: ListenAddress): boolean {
  return at.address === '::' && before?.address === '0.0.0.0' && before.port === at.port;
}

/** Bun.listen (1.4.4) gives no code where the socket cannot even be made; then the kernel is asked about IPv6. */
function codeOf(error: unknown, { address }: ListenAddress): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    return error.code;
  }
  const lacksIPv6 = process.platform === 'linux' && !existsSync('/proc/net/if_inet6');
  return address.includes(':') && lacksIPv6 ? 'EAFNOSUPPORT' : 'unknown';
}
