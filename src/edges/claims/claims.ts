/**
 * The hosts that an object claims on an edge, whoever made it.
 */
import type { KubeObject } from '../../kube/object.ts';
import { groupOf, RESOURCES } from '../../kube/resource.ts';
import { listAt, numberAt, textAt, textsAt } from '../../kube/unstructured.ts';
import { hostMatchers, mayMatch, rulePriority } from './traefik-rule.ts';

/**
 * How a claim reads its host:
 * - `exact`: that very host
 * - `label`: `*.` stands for one label
 * - `suffix`: `*.` stands for one label or several
 * - `regexp`: an expression, of which we only know that it may match
 * - `any`: every host
 */
export type ClaimMatch = 'exact' | 'label' | 'suffix' | 'regexp' | 'any';

/** One host that an object wants. */
export interface Claim {
  /** In lower case, unless it is an expression. */
  readonly host: string;
  readonly match: ClaimMatch;
  /** Where the edge goes by numbers (Traefik): the higher one is asked first. */
  readonly priority?: number;
}

/** The claims of an object; none for a kind that has no hosts. Never throws, whatever the object. */
export function claimsOf(object: KubeObject): readonly Claim[] {
  const claims = CLAIMS.find(([{ kind, apiVersion }]) => {
    return kind === object.kind && groupOf(apiVersion) === groupOf(object.apiVersion);
  });
  return claims === undefined ? [] : claims[1](object);
}

/** Whether a host is one that the claim wants, or may want. */
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

/** A rule without a host is the default of its edge, and takes nothing from anybody. */
function ingressClaims(object: KubeObject): readonly Claim[] {
  const ruled = listAt(object, 'spec', 'rules').flatMap((rule) => textAt(rule, 'host') ?? []);
  const secured = listAt(object, 'spec', 'tls').flatMap((tls) => textsAt(tls, 'hosts'));
  const hosts = new Set([...ruled, ...secured].map((host) => host.toLowerCase()));
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
