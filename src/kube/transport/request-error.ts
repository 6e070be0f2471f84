/**
 * What went wrong with a request, as a {@link KubeError}.
 */
import { z } from 'zod';
import { BadAnswer } from './answer.ts';
import { ConnectionError } from './connection-error.ts';
import { KubeError, type KubeErrorReason, type StatusCause } from '../kube-error.ts';
import { quoted } from '../../text/quote.ts';

/** A request, as messages name it. */
export interface CallName {
  readonly verb: string;
  readonly path: string;
  readonly server: string;
  /** Takes out of what the server said what it was told in confidence. Default: it was told nothing. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** The answer of an API server that says no, and the ERROR event of a watch. */
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
 * Codes of OpenSSL (X509_V_ERR_) and of Bun for a certificate that is refused: its chain, its dates, its name, its use.
 */
const CERTIFICATE_FAULT =
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|INVALID_EXTENSION|PATH_LENGTH_|ERROR_IN_CERT|HOSTNAME_|IP_ADDRESS_|EE_KEY_|CA_KEY_|CA_MD_|ERR_TLS_CERT_)/;

/** What Bun says of every alert of TLS, and of what is no TLS at all: there is no more to be had from it. */
const TLS_FAILED = 'EPROTO';

const NOTHING_MORE = 'nothing more was said';

/** More fields than any object of ours has. */
const MAX_CAUSES = 1000;

/** Of an answer that says no. */
export interface Refusal {
  readonly status: number;
  readonly body: string;
  /** The header, as it came. */
  readonly retryAfter: string | undefined;
}

/** The error of an answer that says no. */
export function errorOfAnswer(call: CallName, { status, body, retryAfter }: Refusal): KubeError {
  const said = statusSchema.safeParse(jsonIn(body)).data;
  const seconds = retryAfterSeconds(retryAfter) ?? said?.details?.retryAfterSeconds ?? undefined;
  return new KubeError(
    reasonOf(status, said?.reason),
    `${nameOf(call)} ${status}: ${saidBy(call, said?.message || body) || NOTHING_MORE}`,
    {
      status,
      retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
      causes: (said?.details?.causes ?? [])
        .slice(0, MAX_CAUSES)
        .map((cause) => quotedCause(call, cause)),
    },
  );
}

/** The error of an ERROR event in a watch. */
export function errorOfEvent(call: CallName, object: unknown): KubeError {
  const said = statusSchema.safeParse(object).data;
  const status = said?.code ?? 500;
  return new KubeError(
    reasonOf(status, said?.reason),
    `${nameOf(call)} ended with ${status}: ${saidBy(call, said?.message ?? '') || NOTHING_MORE}`,
    { status },
  );
}

/** The error of a request that got no answer, or half of one. */
export function errorOfFailure(call: CallName, failure: unknown): KubeError {
  if (failure instanceof KubeError) return failure;
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : '';
  if (CERTIFICATE_FAULT.test(code)) {
    return new KubeError(
      'Untrusted',
      `${nameOf(call)}: the certificate of the server is refused: ${certificateFault(code)} (${code})`,
      { cause: failure },
    );
  }
  if (code === 'ZlibError') return malformed(call, 'its compression is broken');
  if (failure instanceof BadAnswer) return malformed(call, failure.message);
  if (code === TLS_FAILED) {
    return new KubeError(
      'Unreachable',
      `${nameOf(call)}: TLS with the server failed (${code}): see that TLS is spoken at this address, that the name of the server is known there, and that it takes the client certificate, if there is one`,
      { cause: failure },
    );
  }
  const said = quoted(failure instanceof Error ? failure.message : String(failure));
  // Bun's own sentences advise the author of a program, not who runs it.
  const why = failure instanceof ConnectionError ? `${said} (${code})` : code || said;
  return new KubeError('Unreachable', `${nameOf(call)}: ${why}`, { cause: failure });
}

function certificateFault(code: string): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'it has not the name that was asked for';
  if (code === 'CERT_HAS_EXPIRED') return 'it has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'it is not valid yet';
  return 'it is not of the CA that is trusted here';
}

/** A field's path and a manager's name are no longer than a sentence either. */
function quotedCause(call: CallName, { reason, message, field }: StatusCause): StatusCause {
  const bounded = (text: string | undefined) => text && saidBy(call, text);
  return { reason: bounded(reason), message: bounded(message), field: bounded(field) };
}

/** The error of an answer that is none. */
export function malformed(call: CallName, what: string): KubeError {
  return new KubeError('Malformed', `${nameOf(call)}: not an answer of an API server: ${what}`);
}

/**
 * What a server said, fit for a message. Looked through before it is cut, so that no part of a secret is left, and after
 * it is cleaned, so that none comes together.
 */
export function saidBy({ redact = (text) => text }: CallName, text: string): string {
  return redact(quoted(redact(text)));
}

/** As in `GET /api/v1/pods at https://10.0.0.1:6443`. */
export function nameOf({ verb, path, server }: CallName): string {
  return `${verb} ${path} at ${server}`;
}

function reasonOf(status: number, said: string | null | undefined): KubeErrorReason {
  if (status === 409 && said === 'AlreadyExists') return 'AlreadyExists';
  if (said === 'Expired' || said === 'Gone') return 'Expired';
  return REASON_OF_STATUS[status] ?? 'ServerError';
}

/** Of the two forms of the header, a number and a date, API servers use the number. */
function retryAfterSeconds(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A load balancer's page, say: it is quoted instead.
    return undefined;
  }
}
