/**
 * The flags of `snicket render -f` that stand in for a tenant, which is not read.
 */
import { InvalidArgumentError, type Command } from 'commander';
import { domain } from '../../api/values/network-values.ts';
import { parseVersion } from '../../api/versions.ts';
import type { TenantFacts } from '../../tenant/tenant-facts.ts';
import { ipVersion } from '../../wire/ip-address.ts';
import { fieldValue } from './field-value.ts';
import { refusing } from './flag-values.ts';

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
    .option(
      '--service-address <ip...>',
      "with -f: of the tenants' Service default/kubernetes; default: as its provider says, or 10.96.0.1",
      parseAddresses,
    )
    .option(
      '--cluster-domain <name>',
      "with -f: the tenants' DNS domain; default: as its provider says, or cluster.local",
      parseDomain,
    )
    .option(
      '--tenant-version <version>',
      "with -f: the tenants' Kubernetes; default: as its provider says, or v1.36.0",
      parseTenantVersion,
    );
}

function parseAddresses(text: string, before: readonly string[] = []): readonly string[] {
  if (ipVersion(text) === 0) throw new InvalidArgumentError('Write an IP such as 10.96.0.1.');
  return [...before, text];
}

function parseDomain(text: string): string {
  return refusing(() => fieldValue(domain, text));
}

function parseTenantVersion(text: string): string {
  if (parseVersion(text) !== undefined) return text.trim();
  throw new InvalidArgumentError('Write a version of Kubernetes such as v1.36.0.');
}
