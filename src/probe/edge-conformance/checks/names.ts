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

/** Outcomes by severity, the worst last. */
const KINDS = ['refused', 'ownCertificate', 'notTls', 'held', 'ledToTenant'] as const;
type Kind = (typeof KINDS)[number];

interface Outcome {
  readonly kind: Kind;
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
  const { kind, text } = await outcomeFor(input, undefined);
  const message = `${text} for a ClientHello without a server name.`;
  switch (kind) {
    case 'refused':
      return checkResult('no-name', 'Passed', message);
    case 'ownCertificate':
      return checkResult('no-name', 'NoNameOwnCertificate', message);
    case 'notTls':
      return checkResult('no-name', 'NoNameNotTls', message);
    case 'held':
      return checkResult('no-name', 'NoNameUnanswered', message);
    case 'ledToTenant':
      return checkResult('no-name', 'NoNameReachesTenant', message);
  }
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
  const isSecondWorse = KINDS.indexOf(second.kind) > KINDS.indexOf(first.kind);
  const { kind, text, name } = isSecondWorse ? second : first;
  const message = `${text} for the unknown host ${name}.`;
  switch (kind) {
    case 'refused':
      return checkResult('unknown-name', 'Passed', message);
    case 'ownCertificate':
      return checkResult('unknown-name', 'UnknownNameOwnCertificate', message);
    case 'notTls':
      return checkResult('unknown-name', 'UnknownNameNotTls', message);
    case 'held':
      return checkResult('unknown-name', 'UnknownNameUnanswered', message);
    case 'ledToTenant':
      return checkResult('unknown-name', 'UnknownNameReachesTenant', message, { host: name });
  }
}

async function outcomeFor(
  { edge, recognition, limits }: NameCheckInput,
  serverName: string | undefined,
): Promise<Outcome> {
  const handshake = await handshakeThrough(edge, { serverName }, limits);
  return {
    kind: kindOf(handshake, recognition),
    text: `The server at ${edgeText(edge)} ${handshakeText(handshake, limits.timeoutMs)}`,
    name: serverName ?? '',
  };
}

function kindOf(handshake: Handshake, recognition: Recognition): Kind {
  switch (handshake.kind) {
    case 'secured':
      return recognition.isControlPlanes(handshake.presented) ? 'ledToTenant' : 'ownCertificate';
    case 'alert':
    case 'closed':
    case 'malformed':
      return 'refused';
    case 'notTls':
      return 'notTls';
    case 'timeout':
      return 'held';
  }
}
