/**
 * Parses HTTP/1 responses, as far as probes need it.
 */

/** The response to a request. */
export interface HttpResponse {
  readonly status: number;
  /** By name in lower case. Of several with the same name, the last wins. */
  readonly headers: ReadonlyMap<string, string>;
  /** The raw body. A chunked body is not decoded. */
  readonly body: string;
}

/** The maximum of bytes read of a response. */
export const MAX_RESPONSE_BYTES = 64 * 1024;

const PREFIX = Buffer.from('HTTP/1.');
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: .*)?$/;
const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

/**
 * Returns the response in the received bytes, undefined while it is incomplete, or `notHttp` if it is invalid. With
 * `isEnd`, no more bytes follow, and the body is complete.
 */
export function readHttpResponse(
  bytes: Buffer,
  isEnd: boolean,
): HttpResponse | 'notHttp' | undefined {
  const start = bytes.subarray(0, PREFIX.length);
  if (!start.equals(PREFIX.subarray(0, start.length))) return 'notHttp';
  const isLast = isEnd || bytes.length >= MAX_RESPONSE_BYTES;
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return isLast ? 'notHttp' : undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = STATUS_LINE.exec(statusLine)?.[1];
  if (status === undefined) return 'notHttp';
  const headers = new Map(lines.map(headerIn));
  const body = bytes.toString('utf8', headEnd + HEAD_END.length);
  if (!isLast && !isComplete(headers, body)) return undefined;
  return { status: Number(status), headers, body };
}

function isComplete(headers: ReadonlyMap<string, string>, body: string): boolean {
  const length = headers.get('content-length');
  // An invalid length never completes the body.
  if (length !== undefined)
    return /^\d+$/.test(length) && Buffer.byteLength(body) >= Number(length);
  return headers.get('transfer-encoding') === 'chunked' && body.endsWith(LAST_CHUNK);
}

function headerIn(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
