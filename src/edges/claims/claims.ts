/**
 * The hosts that an object claims on an edge, for any owner.
 */
import type { KubeObject } from '../../kube/object.ts';
import { groupOf, RESOURCES } from '../../kube/resource.ts';
import { listAt, numberAt, textAt, textsAt } from '../../kube/unstructured.ts';
import { hostMatchers, mayMatch, rulePriority } from './traefik-rule.ts';

/**
 * How a claim matches hosts:
 * - `exact`: that host only
 * - `label`: `*.` stands for one label
 * - `suffix`: `*.` stands for one or more labels
 * - `regexp`: a regular expression, which may or may not match
 * - `any`: every host
 */
type ClaimMatch = 'exact' | 'label' | 'suffix' | 'regexp' | 'any';

/** A host that an object claims. */
export interface Claim {
  /** In lower case, unless it is a regular expression. */
  readonly host: string;
  readonly match: ClaimMatch;
  /** The priority of the rule (Traefik only): Traefik evaluates the higher one first. */
  readonly priority?: number;
}

/** Returns the claims of an object; none for a kind without hosts. Never throws, even for a malformed object. */
export function claimsOf(object: KubeObject): readonly Claim[] {
  const claims = CLAIMS.find(([{ kind, apiVersion }]) => {
    return kind === object.kind && groupOf(apiVersion) === groupOf(object.apiVersion);
  });
  return claims === undefined ? [] : claims[1](object);
}

/** Reports whether a claim covers a host, or may cover it. */
export function covers({ host: claimed, match }: Claim, host: string): boolean {
  switch (match) {
    case 'exact':
      return claimed === host;
    case 'label':
      return claimed.slice(1) === host.slice(host.indexOf('.'));
    case 'suffix':
      return host.endsWith(claimed.slice(1));
    case 'regexp':
      return mayMatch(claimed, host);
    case 'any':
      return true;
  }
}

const CLAIMS = [
  [RESOURCES.ingress, ingressClaims],
  [RESOURCES.tlsRoute, tlsRouteClaims],
  [RESOURCES.ingressRouteTcp, ingressRouteTcpClaims],
  [RESOURCES.httpProxy, httpProxyClaims],
  [RESOURCES.transportServer, transportServerClaims],
] as const;

/** A rule without a host is the default backend and takes no host from other objects. */
function ingressClaims(object: KubeObject): readonly Claim[] {
  const ruleHosts = listAt(object, 'spec', 'rules').flatMap((rule) => textAt(rule, 'host') ?? []);
  const tlsHosts = listAt(object, 'spec', 'tls').flatMap((tls) => textsAt(tls, 'hosts'));
  const hosts = new Set([...ruleHosts, ...tlsHosts].map((host) => host.toLowerCase()));
  return [...hosts].map((host) => claim(host, 'label'));
}

function tlsRouteClaims(object: KubeObject): readonly Claim[] {
  return textsAt(object, 'spec', 'hostnames').map((host) => claim(host, 'suffix'));
}

function ingressRouteTcpClaims(object: KubeObject): readonly Claim[] {
  return listAt(object, 'spec', 'routes').flatMap((route) => {
    const rule = textAt(route, 'match') ?? '';
    const priority = rulePriority(rule, numberAt(route, 'priority'));
    return hostMatchers(rule).flatMap(({ isRegexp, values }) =>
      values.map((value): Claim => {
        if (isRegexp) return { host: value, match: 'regexp', priority };
        return value === '*'
          ? { host: '*', match: 'any', priority }
          : { ...claim(value.replace(/\.$/, ''), 'label'), priority };
      }),
    );
  });
}

function httpProxyClaims(object: KubeObject): readonly Claim[] {
  const host = textAt(object, 'spec', 'virtualhost', 'fqdn');
  return host === undefined ? [] : [claim(host, 'label')];
}

function transportServerClaims(object: KubeObject): readonly Claim[] {
  const host = textAt(object, 'spec', 'host');
  return host === undefined ? [] : [claim(host, 'label')];
}

function claim(host: string, wildcard: 'label' | 'suffix'): Claim {
  return { host: host.toLowerCase(), match: host.startsWith('*.') ? wildcard : 'exact' };
}
