/**
 * server-close: when the server closes a connection, the complete response arrives, and then the close.
 */
import { checkResult, notApplicable, type CheckResult } from '../check-result.ts';
import { openHttp, type Checkup } from '../checkup.ts';
import { firstResponse, versionRequest } from '../http1.ts';

/** Sends a request with `Connection: close`. */
export async function checkServerClose({
  edge,
  at,
  httpHost,
  limits,
}: Checkup): Promise<CheckResult> {
  if (httpHost === undefined) {
    return notApplicable('server-close', 'No server behind the edge answers in HTTP/1.1.');
  }
  using connection = await openHttp(edge, httpHost, limits);
  connection.send(versionRequest(httpHost, { close: true }));
  const response = await connection.receive(firstResponse, limits);
  if (typeof response === 'object' && (await connection.endsTcp(limits))) {
    return checkResult(
      'server-close',
      'Passed',
      'The close of the server arrives after its response.',
    );
  }
  const event =
    typeof response === 'object'
      ? 'The close did not arrive after the response'
      : 'No response arrived';
  const message = `${event} within ${limits.timeoutMs} ms for the last request to ${httpHost} at ${at}.`;
  return checkResult('server-close', 'CloseNotForwarded', message);
}
