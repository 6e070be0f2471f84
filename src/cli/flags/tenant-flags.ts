/**
 * The flags of `snicket render -f` that stand in for a tenant, which is not read.
 */
import { InvalidArgumentError, type Command } from 'commander';
import { domain } from '../../api/values/network-values.ts';
import { parseVersion } from '../../api/versions.ts';
import type { TenantFacts } from '../../tenant/tenant-facts.ts';
import { ipVersion } from '../../wire/ip-address.ts';
import { fieldValue } from './field-value.ts';
import { parsedBy } from './flag-values.ts';

/** Values of the flags. */
export interface TenantFlags {
  readonly serviceAddress?: readonly string[];
  readonly clusterDomain?: string;
  readonly tenantVersion?: string;
}

/** Names of the flags. */
export const TENANT_FLAGS: readonly (keyof TenantFlags)[] = [
  'serviceAddress',
  'clusterDomain',
  'tenantVersion',
];

/** What the flags can say about every tenant. */
export type TenantSettings = Omit<TenantFacts, 'nodes'>;

/** Returns what the flags say about every tenant. */
export function tenantSettingsOf({
  serviceAddress,
  clusterDomain,
  tenantVersion,
}: TenantFlags): Partial<TenantSettings> {
  return {
    ...(tenantVersion !== undefined && { version: tenantVersion }),
    ...(serviceAddress !== undefined && { serviceAddresses: serviceAddress }),
    ...(clusterDomain !== undefined && { clusterDomain }),
  };
}

/** Adds the flags to a command and returns it. */
export function withTenantFlags(command: Command): Command {
  return command
    .optionsGroup('Options for -f:')
    .option(
      '--service-address <ip...>',
      'IP addresses of Service default/kubernetes in tenants (default: from the provider, or 10.96.0.1)',
      parseAddresses,
    )
    .option(
      '--cluster-domain <name>',
      'DNS domain of tenants (default: from the provider, or cluster.local)',
      parseDomain,
    )
    .option(
      '--tenant-version <version>',
      'Kubernetes version of tenants (default: from the provider, or v1.36.0)',
      parseTenantVersion,
    );
}

function parseAddresses(text: string, before: readonly string[] = []): readonly string[] {
  if (ipVersion(text) === 0)
    throw new InvalidArgumentError('must be an IP address such as 10.96.0.1');
  return [...before, text];
}

function parseDomain(text: string): string {
  return parsedBy(() => fieldValue(domain, text));
}

function parseTenantVersion(text: string): string {
  if (parseVersion(text) !== undefined) return text.trim();
  throw new InvalidArgumentError('must be a Kubernetes version such as v1.36.0');
}
