/**
 * Minimal HTTP/1.1 (RFC 9112): a GET request without side effects, and a parser that finds the end of its response. Pure.
 */

/** The status of a response and its size. */
interface HttpResponse {
  readonly status: number;
  /** The size of the response with its headers, in bytes. */
  readonly bytes: number;
  /** Whether the response has `Connection: close`. */
  readonly closes: boolean;
}

/** By default, Kubernetes allows anonymous requests to this path. A 403 counts as a response too. */
const PATH = '/version';

const HEAD_END = '\r\n\r\n';
const LINE_END = '\r\n';
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: .*)?$/;
const START = Buffer.from('HTTP/1.');

/** The maximum size of a response. A real one has less than 1 KiB: a JSON object with versions, or a 403. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/**
 * Returns a GET request for /version without credentials. `close` adds `Connection: close`, and `paddingBytes` adds a
 * header of that length.
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

/** Returns the first response in the bytes, undefined if it is incomplete, or `notHttp` if it is invalid. */
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
  // Without a length, the body ends with the connection. API servers never send such a response.
  if (!(length <= MAX_RESPONSE_BYTES)) return 'notHttp';
  return body + length <= bytes.length ? body + length : undefined;
}

function chunksEnd(bytes: Buffer, start: number): number | 'notHttp' | undefined {
  let offset = start;
  while (true) {
    const lineEnd = bytes.indexOf(LINE_END, offset);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', offset, lineEnd), 16);
    if (!(size >= 0 && size <= MAX_RESPONSE_BYTES)) return 'notHttp';
    offset = lineEnd + LINE_END.length + size + LINE_END.length;
    if (offset > bytes.length) return undefined;
    if (size === 0) return offset;
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
