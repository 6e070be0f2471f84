/**
 * many-connections: many concurrent connections from one address all reach their host.
 */
import { checkResult, type CheckResult } from '../check-result.ts';
import type { Checkup } from '../checkup.ts';
import { EdgeConnection } from '../edge-connection.ts';
import { handshakeText } from '../recognition.ts';

/** As many as a few workers behind one NAT address open. No edge should notice them. */
const CONNECTIONS = 50;

/** Multiplies the timeout, since the connections wait for one another, also on this machine. */
const TIMEOUT_FACTOR = 3;

/** Opens all connections, and closes them after the last handshake. */
export async function checkManyConnections(checkup: Checkup): Promise<CheckResult> {
  const { edge, at, served, recognition } = checkup;
  const limits = { ...checkup.limits, timeoutMs: TIMEOUT_FACTOR * checkup.limits.timeoutMs };
  using stack = new DisposableStack();
  const all = await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, index) => {
      const host = served[index % served.length] ?? served[0];
      const connection = await EdgeConnection.open(edge, { serverName: host }, limits);
      return { host, connection: stack.use(connection) };
    }),
  );
  const misrouted = all.filter(({ host, connection: { handshake } }) => {
    if (handshake.kind !== 'secured') return true;
    return recognition.ownerOf(host, handshake.presented).kind !== 'own';
  });
  const [first] = misrouted;
  if (first === undefined) {
    return checkResult(
      'many-connections',
      'Passed',
      `All ${CONNECTIONS} simultaneous connections are served.`,
    );
  }
  const text = handshakeText(first.connection.handshake, limits.timeoutMs);
  const message = `Of ${CONNECTIONS} simultaneous connections, ${misrouted.length} fail: The server at ${at} ${text} for host ${first.host}.`;
  return checkResult('many-connections', 'ManyConnectionsRefused', message);
}
