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
        code: 'KonnectivityHostMissing',
        severity: 'error',
        message:
          'the control plane has konnectivity, and there is no host by which its agents could find it',
        action: 'write spec.hosts.konnectivity, or spec.domain of the Edge',
      },
    ];
  }
  if (!hasKonnectivity || api !== konnectivity) return found;
  return [
    ...found,
    {
      code: 'HostsEqual',
      severity: 'error',
      message: `${api} would be the host of the API and of konnectivity, and the edge tells them apart by name`,
      action: 'write another one as spec.hosts.konnectivity',
    },
  ];
}

function hostFinding(kind: string, host: string): Finding | undefined {
  if (PORT.test(host)) {
    return {
      code: 'HostWithPort',
      severity: 'error',
      message: `the host ${host} has a port, and certificates and routes have none`,
      action: `write ${host.replace(/:\d+$/, '')} as spec.hosts.${kind}; the port is that of the Edge`,
    };
  }
  if (ipVersion(host) === 0) return undefined;
  return {
    code: 'HostIsAddress',
    severity: 'error',
    message: `the host ${host} is an address, and a ClientHello names no addresses`,
    action: `write a DNS name as spec.hosts.${kind}`,
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
      code: 'CertificateNameWithPort',
      severity: 'error',
      message: `${field} has "${quoted(name)}", and a certificate holds names without ports: the provider refuses the object, or makes no certificate`,
      action: `write "${quoted(host)}" there`,
    };
  });
}

/** Returns a finding if a value is a host name where the provider needs an IP address. */
export function addressFindings(value: unknown, field: string): readonly Finding[] {
  if (value === undefined || value === '') return [];
  if (typeof value === 'string' && ipVersion(value) !== 0) return [];
  return [
    {
      code: 'AddressExpected',
      severity: 'error',
      message: `${field} is ${quoted(JSON.stringify(value))}, and has to be an IP address: no certificate can be made with it`,
      action: 'write an IP address there, or remove the field; host names belong in the Exposure',
    },
  ];
}
