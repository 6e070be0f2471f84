/**
 * The parts of HTTP/1.1 that a check needs: a harmless request, and where its response ends. Pure.
 */

/** A response and its size. */
export interface HttpResponse {
  readonly status: number;
  readonly bytes: number;
  /** Whether the server closes the connection after it. */
  readonly closes: boolean;
}

/** Readable without credentials by the default rules of Kubernetes. A 403 is a response too. */
const PATH = '/version';

const HEAD_END = '\r\n\r\n';
const LINE_END = '\r\n';
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: .*)?$/;
const START = Buffer.from('HTTP/1.');

/** A larger response is not valid for this request. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/**
 * Returns a request without credentials. `close` asks the server to close the connection, `paddingBytes` adds a long
 * header.
 */
export function versionRequest(
  host: string,
  options: { readonly close?: boolean; readonly paddingBytes?: number } = {},
): string {
  const lines = [`GET ${PATH} HTTP/1.1`, `Host: ${host}`, 'User-Agent: snicket-doctor'];
  if (options.close === true) lines.push('Connection: close');
  if (options.paddingBytes !== undefined)
    lines.push(`X-Padding: ${'.'.repeat(options.paddingBytes)}`);
  return `${lines.join(LINE_END)}${HEAD_END}`;
}

/** Returns the first response in these bytes, undefined while it is incomplete, or `notHttp` if it is invalid. */
export function firstResponse(bytes: Buffer): HttpResponse | 'notHttp' | undefined {
  const start = bytes.subarray(0, START.length);
  if (!start.equals(START.subarray(0, start.length))) return 'notHttp';
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return bytes.length > MAX_RESPONSE_BYTES ? 'notHttp' : undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split(LINE_END);
  const status = STATUS_LINE.exec(statusLine)?.[1];
  if (status === undefined) return 'notHttp';
  const headers = new Map(lines.map(headerIn));
  const body = headEnd + HEAD_END.length;
  const end = bodyEnd(bytes, body, headers);
  if (end === 'notHttp' || body > MAX_RESPONSE_BYTES) return 'notHttp';
  if (end === undefined) return undefined;
  return { status: Number(status), bytes: end, closes: headers.get('connection') === 'close' };
}

function bodyEnd(
  bytes: Buffer,
  body: number,
  headers: ReadonlyMap<string, string>,
): number | 'notHttp' | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return chunksEnd(bytes, body);
  const text = headers.get('content-length') ?? '';
  // Number() would accept `-1`, `0x10`, `1e3` and an empty string as lengths. RFC 9110, section 8.6, allows only
  // digits.
  const length = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  // Without a length, the body ends with the connection. No API server responds so.
  if (!(length <= MAX_RESPONSE_BYTES)) return 'notHttp';
  return body + length <= bytes.length ? body + length : undefined;
}

function chunksEnd(bytes: Buffer, start: number): number | 'notHttp' | undefined {
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf(LINE_END, at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (!(size >= 0 && size <= MAX_RESPONSE_BYTES)) return 'notHttp';
    at = lineEnd + LINE_END.length + size + LINE_END.length;
    if (at > bytes.length) return undefined;
    if (size === 0) return at;
  }
}

function headerIn(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [
    line.slice(0, colon).toLowerCase(),
    line
      .slice(colon + 1)
      .trim()
      .toLowerCase(),
  ];
}
