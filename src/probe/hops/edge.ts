/**
 * edge: the edge accepts TCP connections. One address is enough to continue. The result names an address that does not.
 */
import type { Socket } from 'node:net';
import { addressText, errorCode, type Dial } from '../dial.ts';
import { hopResult, type HopResult } from '../hop.ts';
import { withTimeout, TIMED_OUT, type Limits } from '../limits.ts';

/** The outcome of a dial. */
type DialOutcome = 'accepted' | 'refused' | 'timeout' | 'unreachable';

/** The result, with the accepting addresses, which later hops use. */
export interface EdgeResult {
  readonly result: HopResult;
  readonly accepting: readonly string[];
  /**
   * The connections that were opened, by address. The caller closes them. Reusing them avoids connections without data,
   * which look like a port scan.
   */
  readonly connections: ReadonlyMap<string, Socket>;
}

/** The error codes of the kernel if this machine has no route to an address, or to its whole family. */
const NO_ROUTE = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);

/** Dials each address once. Throws only the reason of the caller's signal. */
export async function probeEdge(
  addresses: readonly string[],
  port: number,
  dial: Dial,
  limits: Limits,
): Promise<EdgeResult> {
  const connections = new Map<string, Socket>();
  const closeAll = () => {
    for (const socket of connections.values()) socket.destroy();
    connections.clear();
  };
  const dials = await Promise.all(
    addresses.map(async (address) => {
      const opened = await dialOnce(address, port, dial, limits);
      if (opened.socket !== undefined) connections.set(address, opened.socket);
      return { address, ...opened };
    }),
  ).catch((error: unknown) => {
    closeAll();
    throw error;
  });
  // Connections that waited for the timeout of another address may have been closed by the edge.
  if (connections.size < addresses.length) closeAll();
  const accepting = dials.filter(({ outcome }) => outcome === 'accepted');
  // A machine without IPv6 cannot check the IPv6 address of an edge that it reaches over IPv4.
  const hasNoRoute = ({ code }: DialResult) => accepting.length > 0 && NO_ROUTE.has(code);
  const failing = dials.find((dial) => dial.outcome !== 'accepted' && !hasNoRoute(dial));
  return {
    accepting: accepting.map(({ address }) => address),
    connections,
    result: edgeResult({ addresses, port, failing, accepting, timeoutMs: limits.timeoutMs }),
  };
}

/** The outcome of a dial. `code` is the error code of the system, empty if there is none. */
interface DialResult {
  readonly outcome: DialOutcome;
  readonly code: string;
  readonly socket?: Socket;
}

/** A dial with its address. */
type DialedAddress = DialResult & { readonly address: string };

/** The dials of all addresses of an edge. */
interface EdgeDials {
  readonly addresses: readonly string[];
  readonly port: number;
  /** The first address that does not accept. */
  readonly failing: DialedAddress | undefined;
  readonly accepting: readonly DialedAddress[];
  readonly timeoutMs: number;
}

function edgeResult({ addresses, port, failing, accepting, timeoutMs }: EdgeDials): HopResult {
  const target = addresses.map((address) => addressText(address, port)).join(', ');
  if (failing === undefined || failing.outcome === 'accepted') {
    return hopResult('edge', 'Passed', target, 'The edge accepts connections.');
  }
  const failure = failureText(failing, port, timeoutMs);
  if (accepting.length > 0) {
    const working = accepting.map(({ address }) => addressText(address, port)).join(', ');
    const message = `${failure} The edge accepts connections at ${working}.`;
    return hopResult('edge', 'Degraded', target, message, {
      address: addressText(failing.address, port),
    });
  }
  const code = failing.outcome === 'refused' ? 'EdgeRefused' : 'EdgeUnreachable';
  return hopResult('edge', code, target, failure, { port: String(port) });
}

/** Returns why an address does not accept connections, as a sentence with the address. */
function failureText({ address, outcome, code }: DialedAddress, port: number, timeoutMs: number) {
  const where = addressText(address, port);
  if (outcome === 'refused') return `Nothing listens at ${where}.`;
  if (outcome === 'timeout') return `Address ${where} did not answer within ${timeoutMs} ms.`;
  return `Address ${where} cannot be reached (${code}).`;
}

async function dialOnce(
  address: string,
  port: number,
  dial: Dial,
  limits: Limits,
): Promise<DialResult> {
  const opened = await withTimeout(limits, async (signal): Promise<DialResult> => {
    try {
      return { outcome: 'accepted', code: '', socket: await dial(address, port, signal) };
    } catch (error) {
      const code = errorCode(error);
      if (code === '') throw error;
      return { outcome: outcomeFor(code), code };
    }
  });
  return opened === TIMED_OUT ? { outcome: 'timeout', code: '' } : opened;
}

function outcomeFor(code: string): DialOutcome {
  switch (code) {
    // The connection was accepted and then reset, so a server listens there.
    case 'ECONNRESET':
      return 'accepted';
    case 'ECONNREFUSED':
      return 'refused';
    case 'ETIMEDOUT':
      return 'timeout';
    default:
      return 'unreachable';
  }
}
