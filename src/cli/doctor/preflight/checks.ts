/**
 * The preflight checks: whether a management cluster is ready for an installation of Snicket. Pure.
 */
import { compareVersions, parseVersion } from '../../../api/versions.ts';
import { FINDING_CODES, type FindingCode } from '../../../api/finding-codes/catalog.ts';

/** The facts of a management cluster that the preflight checks need. */
export interface PreflightFacts {
  /** The version of the API server, such as `v1.36.0`. */
  readonly version: string;
  /** The API versions that Snicket uses but the API server does not serve. */
  readonly missingApis: readonly string[];
  /**
   * The actions that the user is not allowed to perform, such as `create clusterroles.rbac.authorization.k8s.io`.
   * Undefined if the API server does not serve access reviews.
   */
  readonly denied?: readonly string[] | undefined;
  /** Snicket's CRDs, with the versions that they serve. Undefined if the user is not allowed to list them. */
  readonly crds:
    | readonly { readonly name: string; readonly versions: readonly string[] }[]
    | undefined;
  /** Supported ingress controllers and gateways other than by IngressClass, such as `Gateway API`. */
  readonly controllers: readonly string[];
  /** The names of IngressClasses. Undefined if the user is not allowed to list them. */
  readonly ingressClasses: readonly string[] | undefined;
  /**
   * Services of type LoadBalancer with an address, such as `ingress/haproxy (203.0.113.10)`. Undefined if the user is
   * not allowed to list Services.
   */
  readonly loadBalancers: readonly string[] | undefined;
  /** Supported control plane kinds, such as `TenantControlPlane (kamaji.clastix.io)`. */
  readonly providers: readonly string[];
}

/** The result of a preflight check. */
export interface PreflightCheck {
  readonly check: string;
  readonly state: 'Pass' | 'Warn' | 'Fail';
  readonly code: FindingCode | 'Passed';
  /** The finding, without a period at the end. */
  readonly message: string;
  /** The fix, as a sentence. Undefined if the check passes. */
  readonly action?: string;
}

/** CRD validation rules (CEL), which Snicket's CRDs use, are stable since this version. */
const MIN_VERSION = 'v1.29.0';
/** The version of Snicket's API. */
const API_VERSION = 'v1alpha1';

/** Returns the results of all preflight checks. */
export function preflightChecks(facts: PreflightFacts): readonly PreflightCheck[] {
  return [
    isSupported(facts.version)
      ? passed('kubernetes', `the API server is ${facts.version}`)
      : failed(
          'kubernetes',
          'VersionUnsupported',
          `the API server is ${facts.version}; ${MIN_VERSION} or newer is required`,
        ),
    facts.missingApis.length === 0
      ? passed('apis', 'all API versions that Snicket uses are served')
      : failed('apis', 'VersionUnsupported', `not served: ${facts.missingApis.join(', ')}`),
    facts.denied === undefined
      ? warned('permissions', 'PermissionMissing', 'the API server does not serve access reviews')
      : facts.denied.length === 0
        ? passed('permissions', 'the user is allowed to create all objects that Snicket installs')
        : failed(
            'permissions',
            'PermissionMissing',
            `the user is not allowed to ${facts.denied.join(', ')}`,
          ),
    crdsCheck(facts.crds),
    edgesCheck(facts),
    loadBalancerCheck(facts.loadBalancers),
    facts.providers.length > 0
      ? passed('providers', `found ${facts.providers.join(', ')}`)
      : warned(
          'providers',
          'ComponentMissing',
          'no supported control plane provider found',
          'Install a provider, or create Exposures with spec.controlPlane.type Service or Endpoints.',
        ),
  ];
}

function crdsCheck(crds: PreflightFacts['crds']): PreflightCheck {
  if (crds === undefined) return notListed('crds', 'customresourcedefinitions');
  const outdated = crds.filter(({ versions }) => !versions.includes(API_VERSION));
  if (outdated.length === 0) return passed('crds', crdsText(crds.length));
  const names = outdated.map(({ name }) => name).join(', ');
  return failed('crds', 'CrdsOutdated', `not serving ${API_VERSION}: ${names}`);
}

function edgesCheck({ controllers, ingressClasses }: PreflightFacts): PreflightCheck {
  const found = [...controllers, ...(ingressClasses ?? []).map((name) => `IngressClass ${name}`)];
  if (found.length > 0) return passed('edges', `found ${found.join(', ')}`);
  if (ingressClasses === undefined) return notListed('edges', 'ingressclasses');
  return warned(
    'edges',
    'ComponentMissing',
    'no supported ingress controller or Gateway API found',
    'Create an Edge with spec.driver: snicket, or install a supported ingress controller.',
  );
}

function loadBalancerCheck(found: PreflightFacts['loadBalancers']): PreflightCheck {
  if (found === undefined) return notListed('load-balancer', 'services');
  if (found.length > 0) return passed('load-balancer', `found Service ${found.join(', ')}`);
  const message = 'no Service of type LoadBalancer has an address';
  return warned(
    'load-balancer',
    'ComponentMissing',
    message,
    'Install a load balancer controller, or set spec.addresses of the Edge.',
  );
}

function notListed(check: string, plural: string): PreflightCheck {
  const message = `the current user is not allowed to list ${plural}, so this is not checked`;
  return warned(check, 'PermissionMissing', message);
}

/** Reports whether the version is at least {@link MIN_VERSION}. A version that cannot be parsed counts as supported. */
function isSupported(version: string): boolean {
  const [actual, minimum] = [parseVersion(version), parseVersion(MIN_VERSION)];
  return actual === undefined || minimum === undefined || compareVersions(actual, minimum) >= 0;
}

function crdsText(count: number): string {
  return count === 0
    ? "Snicket's CRDs are not installed yet"
    : `Snicket's CRDs serve ${API_VERSION}`;
}

function passed(check: string, message: string): PreflightCheck {
  return { check, state: 'Pass', code: 'Passed', message };
}

function failed(
  check: string,
  code: FindingCode,
  message: string,
  action: string = FINDING_CODES[code].action,
): PreflightCheck {
  return { check, state: 'Fail', code, message, action };
}

function warned(...result: Parameters<typeof failed>): PreflightCheck {
  return { ...failed(...result), state: 'Warn' };
}
