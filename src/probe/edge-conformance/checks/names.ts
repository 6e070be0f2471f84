/**
 * no-name, unknown-name: a client that sends no server name, or an unknown one, reaches no tenant.
 */
import { randomBytes } from 'node:crypto';
import { checkResult, type CheckResult } from '../check-result.ts';
import { edgeText } from '../checkup.ts';
import { handshakeThrough, type EdgeUnderTest } from '../edge-connection.ts';
import { handshakeText, type Recognition } from '../recognition.ts';
import type { Limits } from '../../limits.ts';
import type { Handshake } from '../../tls/handshake.ts';

/** Codes by severity, the worst last. */
const CODES = ['Passed', 'NameNotRejected', 'DefaultRouteReachesTenant'] as const;
type Code = (typeof CODES)[number];

interface Outcome {
  readonly code: Code;
  readonly text: string;
  readonly name: string;
}

/** The input of these checks, which run even if no host is reached. */
export interface NameCheckInput {
  readonly edge: EdgeUnderTest;
  readonly recognition: Recognition;
  readonly limits: Limits;
}

/** Checks a ClientHello without a server name. */
export async function checkNoName(input: NameCheckInput): Promise<CheckResult> {
  const { code, text } = await outcomeFor(input, undefined);
  return checkResult('no-name', code, `${text} for a ClientHello without a server name.`);
}

/**
 * Checks two unknown names: a sibling of a host, which a wildcard would match, and one that cannot exist (RFC 6761).
 */
export async function checkUnknownName(input: NameCheckInput, host: string): Promise<CheckResult> {
  const label = `unknown-${randomBytes(4).toString('hex')}`;
  const sibling = `${label}${host.slice(host.indexOf('.'))}`;
  const [first, second] = await Promise.all([
    outcomeFor(input, sibling),
    outcomeFor(input, `${label}.invalid`),
  ]);
  const isSecondWorse = CODES.indexOf(second.code) > CODES.indexOf(first.code);
  const { code, text, name } = isSecondWorse ? second : first;
  return checkResult('unknown-name', code, `${text} for the unknown host ${name}.`);
}

async function outcomeFor(
  { edge, recognition, limits }: NameCheckInput,
  serverName: string | undefined,
): Promise<Outcome> {
  const handshake = await handshakeThrough(edge, { serverName }, limits);
  return {
    code: codeFor(handshake, recognition),
    text: `The server at ${edgeText(edge)} ${handshakeText(handshake, limits.timeoutMs)}`,
    name: serverName ?? '',
  };
}

function codeFor(handshake: Handshake, recognition: Recognition): Code {
  switch (handshake.kind) {
    case 'secured':
      return recognition.isControlPlanes(handshake.presented)
        ? 'DefaultRouteReachesTenant'
        : 'NameNotRejected';
    case 'alert':
    case 'closed':
    case 'malformed':
      return 'Passed';
    case 'notTls':
    case 'timeout':
      return 'NameNotRejected';
  }
}
