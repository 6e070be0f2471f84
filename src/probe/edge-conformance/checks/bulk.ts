/**
 * bulk: many pipelined requests on one connection are all answered. TLS ensures that no byte is changed.
 */
import { checkResult, notApplicable, type CheckResult } from '../check-result.ts';
import { openHttp, type Checkup } from '../checkup.ts';
import { firstResponse, versionRequest } from '../http1.ts';

/** With the padding, 256 KB: more than the default socket buffers, and not a burden. */
const REQUESTS = 64;
const PADDING_BYTES = 4000;

/** Sends the requests and counts the responses. */
export async function checkBulk({ edge, at, httpHost, limits }: Checkup): Promise<CheckResult> {
  if (httpHost === undefined) {
    return notApplicable('bulk', 'No server behind the edge answers in HTTP/1.1.');
  }
  const request = versionRequest(httpHost, { paddingBytes: PADDING_BYTES });
  using connection = await openHttp(edge, httpHost, limits);
  connection.send(request.repeat(REQUESTS));
  for (let responses = 0; responses < REQUESTS; responses++) {
    const response = await connection.receive(firstResponse, limits);
    if (typeof response !== 'object') {
      const message = `Host ${httpHost} at ${at} answered ${responses} of ${REQUESTS} requests of ${request.length} bytes.`;
      return checkResult('bulk', 'BulkInterrupted', message, { host: httpHost });
    }
    connection.drop(response.bytes);
    if (response.closes && responses < REQUESTS - 1) {
      return notApplicable('bulk', `The server of ${httpHost} closes the connection itself.`);
    }
  }
  return checkResult(
    'bulk',
    'Passed',
    `All ${REQUESTS} requests of ${request.length} bytes are answered.`,
  );
}
