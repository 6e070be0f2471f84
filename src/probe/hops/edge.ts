/**
 * edge: every address of the edge accepts TCP connections.
 */
import type { Socket } from 'node:net';
import { addressText, errorCode, type Dial } from '../dial.ts';
import { hopResult, type HopResult } from '../hop.ts';
import { inTime, TIMED_OUT, type Limits } from '../limits.ts';

/** How a dial ended. */
type Answer = 'accepted' | 'refused' | 'timeout' | 'unreachable';

/** The result, with the addresses that accept: those are good for the hops to come. */
export interface EdgeResult {
  readonly result: HopResult;
  readonly accepting: readonly string[];
  /** Opened by the way, by address; whoever gets them closes them. A connection that says nothing looks like a scan. */
  readonly connections: ReadonlyMap<string, Socket>;
}

/** What the kernel says when this machine has no route for an address, perhaps for its whole family. */
const NO_ROUTE = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);

/** Dials each address once. @throws the reason of the caller's signal only. */
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
  // Those that had to wait for an address that is silent may be too old by now.
  if (connections.size < addresses.length) closeAll();
  const accepting = dials.filter(({ answer }) => answer === 'accepted');
  // A machine without IPv6 cannot judge the IPv6 address of an edge that it reaches by IPv4.
  const isExcused = ({ code }: Opened) => accepting.length > 0 && NO_ROUTE.has(code);
  const bad = dials.find((one) => one.answer !== 'accepted' && !isExcused(one));
  return {
    accepting: accepting.map(({ address }) => address),
    connections,
    result: edgeResult(addresses, port, bad, limits.timeoutMs),
  };
}

/** A dial that has ended, with the code of the system's error. */
interface Opened {
  readonly answer: Answer;
  readonly code: string;
  readonly socket?: Socket;
}

function edgeResult(
  addresses: readonly string[],
  port: number,
  bad: (Opened & { readonly address: string }) | undefined,
  timeoutMs: number,
): HopResult {
  const target = addresses.map((address) => addressText(address, port)).join(', ');
  const values = { port: String(port) };
  const where = addressText(bad?.address ?? '', port);
  switch (bad?.answer) {
    case undefined:
    case 'accepted':
      return hopResult('EdgeAnswers', target, 'the edge accepts connections');
    case 'refused':
      return hopResult('EdgeRefused', target, `nothing listens at ${where}`, values);
    case 'timeout': {
      const message = `${where} did not answer in ${timeoutMs} ms`;
      return hopResult('EdgeTimeout', target, message, values);
    }
    case 'unreachable':
      return hopResult('EdgeUnreachable', target, `there is no way to ${where} (${bad?.code})`);
  }
}

async function dialOnce(
  address: string,
  port: number,
  dial: Dial,
  limits: Limits,
): Promise<Opened> {
  const opened = await inTime(limits, async (signal): Promise<Opened> => {
    try {
      return { answer: 'accepted', code: '', socket: await dial(address, port, signal) };
    } catch (error) {
      const code = errorCode(error);
      if (code === '') throw error;
      return { answer: answerFor(code), code };
    }
  });
  return opened === TIMED_OUT ? { answer: 'timeout', code: '' } : opened;
}

function answerFor(code: string): Answer {
  switch (code) {
    // Accepted, and reset before anybody looked: somebody listens there.
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
