/**
 * Checks of host names in a preparation: no ports, no addresses, no duplicates. Otherwise a provider's webhook rejects
 * the object, or the control plane does not start.
 */
import type { Finding } from '../../api/finding.ts';
import { quoted } from '../../text/quote.ts';
import { ipVersion } from '../../wire/ip-address.ts';
import type { PreparationSpec } from './preparation.ts';

const PORT = /^(?<host>[^:]+|\[.*\]):(?<port>\d+)$/;

/** Returns what is wrong with the desired hosts. */
export function hostFindings(
  { hosts }: PreparationSpec,
  hasKonnectivity: boolean,
): readonly Finding[] {
  const { api, konnectivity } = hosts;
  const named = Object.entries({ api, ...(hasKonnectivity && { konnectivity }) });
  const found = named.flatMap(([kind, host]) =>
    host === undefined ? [] : (hostFinding(kind, host) ?? []),
  );
  if (hasKonnectivity && konnectivity === undefined) {
    return [
      ...found,
      {
        code: 'HostMissing',
        severity: 'error',
        message: 'The control plane has konnectivity, but no host is set for its agents.',
        action: 'Set spec.hosts.konnectivity, or spec.domain of the Edge.',
      },
    ];
  }
  if (!hasKonnectivity || api !== konnectivity) return found;
  return [
    ...found,
    {
      code: 'FieldInvalid',
      severity: 'error',
      message: `Host ${api} would be used for both the API and konnectivity, but the edge routes by host.`,
      action: 'Set spec.hosts.konnectivity to another host.',
    },
  ];
}

function hostFinding(kind: string, host: string): Finding | undefined {
  if (PORT.test(host)) {
    return {
      code: 'FieldInvalid',
      severity: 'error',
      message: `Host ${host} includes a port, but certificates and routes do not have ports.`,
      action: `Set spec.hosts.${kind} to ${host.replace(/:\d+$/, '')}. The port is that of the Edge.`,
    };
  }
  if (ipVersion(host) === 0) return undefined;
  return {
    code: 'FieldInvalid',
    severity: 'error',
    message: `Host ${host} is an IP address, but clients do not send IP addresses as TLS server names.`,
    action: `Set spec.hosts.${kind} to a DNS name.`,
  };
}

/**
 * The maximum number of names to report. Lists can be long, and the other names are reported once these are correct.
 */
const MAX_TOLD = 5;

/** Returns the names in a list of certificate names that a certificate cannot contain. */
export function certificateNameFindings(
  names: readonly unknown[],
  field: string,
): readonly Finding[] {
  const wrong = names.filter(
    (name): name is string => typeof name === 'string' && !name.includes('/') && PORT.test(name),
  );
  return wrong.slice(0, MAX_TOLD).map((name) => {
    const { host = '' } = PORT.exec(name)?.groups ?? {};
    return {
      code: 'FieldInvalid',
      severity: 'error',
      message: `Field ${field} contains "${quoted(name)}", but names in certificates have no port. The provider would reject the object or not issue the certificate.`,
      action: `Change the entry to "${quoted(host)}".`,
    };
  });
}

/** Returns a finding if a value is a host name where the provider needs an IP address. */
export function addressFindings(value: unknown, field: string): readonly Finding[] {
  if (value === undefined || value === '') return [];
  if (typeof value === 'string' && ipVersion(value) !== 0) return [];
  return [
    {
      code: 'FieldInvalid',
      severity: 'error',
      message: `Field ${field} is ${quoted(JSON.stringify(value))}, but must be an IP address. No certificate can be issued with it.`,
      action: 'Set it to an IP address, or remove it. Host names belong in the Exposure.',
    },
  ];
}
