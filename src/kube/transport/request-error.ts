/**
 * Converts failures of requests to {@link KubeError}s.
 */
import { z } from 'zod';
import { InvalidResponse } from './response-decoder.ts';
import { ConnectionError } from './connection-error.ts';
import { KubeError, type KubeErrorReason, type StatusCause } from '../kube-error.ts';
import { quoted } from '../../text/quote.ts';

/** The name of a request in messages. */
export interface CallName {
  readonly verb: string;
  readonly path: string;
  readonly server: string;
  /**
   * Removes the credentials of the request from a message of the server. Default: the request had
   * none.
   */
  readonly redact?: ((text: string) => string) | undefined;
}

/** The Status of a failed request, and of the ERROR event of a watch. */
const statusSchema = z.object({
  kind: z.literal('Status'),
  message: z.string().nullish(),
  reason: z.string().nullish(),
  code: z.number().nullish(),
  details: z
    .object({
      retryAfterSeconds: z.number().nullish(),
      causes: z
        .array(
          z.object({
            reason: z.string().optional(),
            message: z.string().optional(),
            field: z.string().optional(),
          }),
        )
        .nullish(),
    })
    .nullish(),
});

const REASON_OF_STATUS: Readonly<Record<number, KubeErrorReason>> = {
  400: 'Invalid',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'Throttled',
};

/**
 * Codes of OpenSSL (X509_V_ERR_) and of Bun for a rejected certificate: its chain, dates, name or purpose.
 */
const CERTIFICATE_FAULT =
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|INVALID_EXTENSION|PATH_LENGTH_|ERROR_IN_CERT|HOSTNAME_|IP_ADDRESS_|EE_KEY_|CA_KEY_|CA_MD_|ERR_TLS_CERT_)/;

/** Bun's code for every TLS alert, and for bytes that are not TLS. It gives no details. */
const TLS_FAILED = 'EPROTO';

const NO_MESSAGE = 'no message';

/** More than the number of fields of any Snicket object. */
const MAX_CAUSES = 1000;

/** A failed response. */
interface FailedResponse {
  readonly status: number;
  readonly body: string;
  /** The `Retry-After` header, unparsed. */
  readonly retryAfter: string | undefined;
}

/** Returns the error for a failed response. */
export function errorOfResponse(
  call: CallName,
  { status, body, retryAfter }: FailedResponse,
): KubeError {
  const statusBody = statusSchema.safeParse(jsonIn(body)).data;
  const seconds =
    retryAfterSeconds(retryAfter) ?? statusBody?.details?.retryAfterSeconds ?? undefined;
  const message = sanitized(call, statusBody?.message || body) || NO_MESSAGE;
  return new KubeError(
    reasonOf(status, statusBody?.reason),
    `${nameOf(call)} ${status}: ${message}`,
    {
      status,
      statusMessage: statusBody && message,
      retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
      causes: (statusBody?.details?.causes ?? [])
        .slice(0, MAX_CAUSES)
        .map((cause) => quotedCause(call, cause)),
    },
  );
}

/** Returns the error for an ERROR event of a watch. */
export function errorOfEvent(call: CallName, object: unknown): KubeError {
  const statusBody = statusSchema.safeParse(object).data;
  const status = statusBody?.code ?? 500;
  return new KubeError(
    reasonOf(status, statusBody?.reason),
    `${nameOf(call)} ended with ${status}: ${sanitized(call, statusBody?.message ?? '') || NO_MESSAGE}`,
    { status },
  );
}

/** Returns the error for a request with no response or an incomplete one. */
export function errorOfFailure(call: CallName, failure: unknown): KubeError {
  if (failure instanceof KubeError) return failure;
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : '';
  if (CERTIFICATE_FAULT.test(code)) {
    return new KubeError(
      'Untrusted',
      `${nameOf(call)}: the certificate of the server is not trusted: ${certificateFault(code)} (${code})`,
      { cause: failure },
    );
  }
  if (code === 'ZlibError') return malformed(call, 'invalid compression');
  if (failure instanceof InvalidResponse) return malformed(call, failure.message);
  if (code === TLS_FAILED) {
    return new KubeError(
      'Unreachable',
      `${nameOf(call)}: TLS handshake failed (${code}): check that the server speaks TLS at this address, knows the server name, and accepts the client certificate, if any`,
      { cause: failure },
    );
  }
  const statusBody = quoted(failure instanceof Error ? failure.message : String(failure));
  // Bun's messages address the author of a program, not its user.
  const why = failure instanceof ConnectionError ? `${statusBody} (${code})` : code || statusBody;
  return new KubeError('Unreachable', `${nameOf(call)}: ${why}`, { cause: failure });
}

function certificateFault(code: string): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'it does not have the requested name';
  if (code === 'CERT_HAS_EXPIRED') return 'it has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'it is not valid yet';
  return 'it is not signed by the trusted CA';
}

/** Limits the length of a cause's strings, which the server controls. */
function quotedCause(call: CallName, { reason, message, field }: StatusCause): StatusCause {
  const bounded = (text: string | undefined) => text && sanitized(call, text);
  return { reason: bounded(reason), message: bounded(message), field: bounded(field) };
}

/** Returns the error for an invalid response. */
export function malformed(call: CallName, fault: string): KubeError {
  return new KubeError('Malformed', `${nameOf(call)}: invalid response of an API server: ${fault}`);
}

/**
 * Returns a server's text for use in a message. It is redacted before it is truncated, so that no part of a secret
 * remains, and again after it is sanitized, so that sanitizing cannot form one.
 */
export function sanitized({ redact = (text) => text }: CallName, text: string): string {
  return redact(quoted(redact(text)));
}

/** Returns the name of a request: `GET /api/v1/pods at https://10.0.0.1:6443`. */
export function nameOf({ verb, path, server }: CallName): string {
  return `${verb} ${path} at ${server}`;
}

function reasonOf(status: number, statusBody: string | null | undefined): KubeErrorReason {
  if (status === 409 && statusBody === 'AlreadyExists') return 'AlreadyExists';
  if (statusBody === 'Expired' || statusBody === 'Gone') return 'Expired';
  return REASON_OF_STATUS[status] ?? 'ServerError';
}

/** Parses the header. API servers use the number form, not the date form. */
function retryAfterSeconds(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // For example the page of a load balancer, which is quoted instead.
    return undefined;
  }
}
