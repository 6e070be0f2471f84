/**
 * Listens on addresses as a person gave them, and says which of them cannot be had.
 */
import { formatListenAddress, type ListenAddress } from '../engine/listen-address.ts';

/**
 * Calls `listen` for each address and returns what it returned.
 *
 * `:443` means every address, and a machine without IPv6 has served them all with the one of IPv4: its `::` may fail, if
 * it is not taken by somebody else.
 *
 * @throws Error with a sentence for the user; what was begun is left to the caller.
 */
export function listenOnAll<Listening>(
  addresses: readonly ListenAddress[],
  listen: (address: ListenAddress) => Listening,
): Listening[] {
  const all: Listening[] = [];
  for (const at of addresses) {
    try {
      all.push(listen(at));
    } catch (error) {
      const code = codeOf(error);
      const isCovered = addresses.some(
        ({ address, port }) => isAnyIPv4(address) && port === at.port,
      );
      if (at.address === '::' && isCovered && code !== 'EADDRINUSE') continue;
      const sentence = `cannot listen on ${formatListenAddress(at)} (${code})`;
      throw new Error(`${sentence}; choose another address, or end who listens there`, {
        cause: error,
      });
    }
  }
  return all;
}

function isAnyIPv4(address: string): boolean {
  return address === '0.0.0.0';
}

/** The system's code; Bun's listeners have none in some cases, and then a sentence. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
