/** Encodes HTTP responses. There is one response per connection, so the header is short. */

const STATUS = {
  200: 'OK',
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

/** An HTTP response. */
export interface HttpResponse {
  readonly status: keyof typeof STATUS;
  readonly body: string;
  /** Default: plain text. */
  readonly type?: string;
}

/** An encoded response. */
export interface EncodedResponse {
  readonly bytes: Uint8Array;
  /** The header alone, for HEAD. */
  readonly head: Uint8Array;
}

const TEXT_TYPE = 'text/plain; charset=utf-8';

/** Encodes a response. Copies the body only once, because the metrics of a large gateway have tens of megabytes. */
export function encodeResponse({ status, body, type = TEXT_TYPE }: HttpResponse): EncodedResponse {
  const bodyBytes = Buffer.byteLength(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS[status]}`,
    `Content-Type: ${type}`,
    `Content-Length: ${bodyBytes}`,
    ...(status === 405 ? ['Allow: GET, HEAD'] : []),
    'Connection: close',
    '\r\n',
  ].join('\r\n');
  const bytes = Buffer.allocUnsafeSlow(head.length + bodyBytes);
  bytes.write(head, 'latin1');
  bytes.write(body, head.length);
  return { bytes, head: bytes.subarray(0, head.length) };
}
