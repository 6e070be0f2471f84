/**
 * Decides whether a management cluster is ready for an installation. Pure.
 */
import { compareVersions, parseVersion } from '../../../api/versions.ts';
import {
  INSTALLATION_FINDINGS,
  type InstallationCode,
} from '../../../api/finding-codes/installation.ts';

/** What was read from the cluster. */
export interface InstallationFacts {
  /** `v1.36.0`. */
  readonly version: string;
  /** The API versions that Snicket uses and the server does not serve. */
  readonly missingApis: readonly string[];
  /**
   * What the user may not do: `create clusterroles.rbac.authorization.k8s.io`. Absent: the server does not answer access
   * reviews.
   */
  readonly denied?: readonly string[] | undefined;
  /** The CustomResourceDefinitions of Snicket. */
  readonly definitions: readonly { readonly name: string; readonly versions: readonly string[] }[];
  /** Supported ingress controllers and gateways: `Gateway API`, `IngressClass nginx`. */
  readonly controllers: readonly string[];
  /** Services of type LoadBalancer with an address: `ingress/haproxy (203.0.113.10)`. */
  readonly loadBalancers: readonly string[];
  /** Kinds of control planes: `TenantControlPlane (kamaji.clastix.io)`. */
  readonly providers: readonly string[];
}

/** The result of a check. */
export interface RequirementCheck {
  readonly check: string;
  readonly state: 'Pass' | 'Warn' | 'Fail';
  readonly code: InstallationCode;
  /** What was found. No period at the end. */
  readonly message: string;
  /** What to do. Absent if the check passes. */
  readonly action?: string;
}

/** CustomResourceDefinitions with validation rules are stable since this version. */
const MIN_VERSION = 'v1.29.0';
/** The version of Snicket's API. */
const API_VERSION = 'v1alpha1';

/** Returns the results, in the order of an installation. */
export function requirementChecks(facts: InstallationFacts): readonly RequirementCheck[] {
  const outdated = facts.definitions.filter(({ versions }) => !versions.includes(API_VERSION));
  return [
    isSupported(facts.version)
      ? passed('kubernetes', `the API server is ${facts.version}`)
      : failed(
          'kubernetes',
          'KubernetesTooOld',
          `the API server is ${facts.version}; ${MIN_VERSION} or newer is required`,
        ),
    facts.missingApis.length === 0
      ? passed('apis', 'all API versions that Snicket uses are served')
      : failed('apis', 'ApiVersionMissing', `not served: ${facts.missingApis.join(', ')}`),
    facts.denied === undefined
      ? warned('permissions', 'PermissionMissing', 'the API server does not answer access reviews')
      : facts.denied.length === 0
        ? passed('permissions', 'the user may create all objects of an installation')
        : failed('permissions', 'PermissionMissing', `the user may not ${facts.denied.join(', ')}`),
    outdated.length === 0
      ? passed('definitions', definitionsText(facts.definitions.length))
      : failed(
          'definitions',
          'DefinitionsOutdated',
          `without version ${API_VERSION}: ${outdated.map(({ name }) => name).join(', ')}`,
        ),
    facts.controllers.length > 0
      ? passed('edges', `found ${facts.controllers.join(', ')}`)
      : warned(
          'edges',
          'ControllerMissing',
          'no supported ingress controller or Gateway API found',
        ),
    facts.loadBalancers.length > 0
      ? passed('load-balancer', `found Service ${facts.loadBalancers.join(', ')}`)
      : warned(
          'load-balancer',
          'LoadBalancerMissing',
          'no Service of type LoadBalancer has an address',
        ),
    facts.providers.length > 0
      ? passed('providers', `found ${facts.providers.join(', ')}`)
      : warned('providers', 'ProviderMissing', 'no supported provider of control planes found'),
  ];
}

function isSupported(version: string): boolean {
  const [found, least] = [parseVersion(version), parseVersion(MIN_VERSION)];
  return found === undefined || least === undefined || compareVersions(found, least) >= 0;
}

function definitionsText(count: number): string {
  return count === 0
    ? 'no CustomResourceDefinitions of Snicket, which the installation creates'
    : `the CustomResourceDefinitions of Snicket have version ${API_VERSION}`;
}

function passed(check: string, message: string): RequirementCheck {
  return { check, state: 'Pass', code: 'CheckPassed', message };
}

function failed(check: string, code: InstallationCode, message: string): RequirementCheck {
  return { check, state: 'Fail', code, message, action: INSTALLATION_FINDINGS[code].action };
}

function warned(check: string, code: InstallationCode, message: string): RequirementCheck {
  return { ...failed(check, code, message), state: 'Warn' };
}
