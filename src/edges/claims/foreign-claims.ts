/**
 * Claims of Snicket's hosts by foreign route objects. Controllers often serve these, and no status reports it. TLS is
 * end to end: such a claim can make a tenant unreachable, but cannot read its traffic.
 */
import type { Finding } from '../../api/finding.ts';
import type { Edge } from '../../api/edge.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { error, warning } from '../codes.ts';
import type { Winner } from '../driver.ts';
import { driverFor } from '../driver-for.ts';
import { claimsOf, covers, type Claim } from './claims.ts';
import { edgeMatch, type EdgeMatch } from './edge-match.ts';
import { hostSniRule } from './traefik-rule.ts';

/**
 * Returns the findings about foreign claims of these hosts on this edge, or on an edge that cannot be determined. An
 * `error` may make the tenant unreachable.
 */
export function foreignClaims(
  hosts: readonly string[],
  objects: readonly KubeObject[],
  isOwn: (object: KubeObject) => boolean,
  edge: Edge,
): readonly Finding[] {
  return objects.flatMap((object) => {
    const match = isOwn(object) ? 'other' : edgeMatch(object, edge);
    if (match === 'other' || object.metadata.deletionTimestamp !== undefined) return [];
    const claims = claimsOf(object);
    return hosts.flatMap((host) => {
      const found = claims
        .filter((claim) => covers(claim, host))
        .map((claim) => findingOf(claim, host, object, match, edge))
        .filter((finding) => finding !== undefined);
      // One finding per host is enough: an error, if there is one.
      return found.find(({ severity }) => severity === 'error') ?? found[0] ?? [];
    });
  });
}

function findingOf(
  claim: Claim,
  host: string,
  object: KubeObject,
  match: EdgeMatch,
  edge: Edge,
): Finding | undefined {
  const { collision } = driverFor(edge.spec.driver);
  const text = objectText(object);
  const action = 'Delete that claim, or choose another host.';
  if (match === 'unclear') {
    if (claim.match === 'any') return undefined;
    const message = `Host ${host} is also claimed by ${text} (${claim.host}), which may or may not be on this edge.`;
    return warning(
      'HostClaimed',
      message,
      `If it is on this edge, delete that claim or choose another host.`,
    );
  }
  const isFirst = takesPrecedence(claim, host, collision.wildcardWins);
  switch (claim.match) {
    case 'exact':
      return isFirst
        ? error(
            'HostClaimed',
            `Host ${host} is also claimed by ${text}, and ${OUTCOMES[collision.sameHost]}.`,
            action,
          )
        : warning(
            'HostClaimed',
            `Host ${host} is also claimed by ${text}, which this edge matches later.`,
            action,
          );
    case 'regexp':
      return warning(
        'HostClaimed',
        `Host ${host} may match ${claim.host} of ${text}, which this edge matches ${isFirst ? 'first' : 'later'}.`,
        'If it matches, change that expression or choose another host.',
      );
    case 'label':
    case 'suffix':
    case 'any':
      if (isFirst)
        return error(
          'HostClaimed',
          `Host ${host} is covered by ${claim.host} of ${text}, which this edge matches first.`,
          action,
        );
      // The default backend of an edge does not compete with a route.
      return claim.match === 'any'
        ? undefined
        : warning(
            'HostClaimed',
            `Host ${host} is covered by ${claim.host} of ${text}, which receives its connections while the route does not exist.`,
            'If this is not intended, delete that claim.',
          );
  }
}

/** Reports whether the edge prefers the claim to Snicket's route for the host. */
function takesPrecedence({ match, priority }: Claim, host: string, wildcardWins: boolean): boolean {
  if (priority !== undefined) return priority >= hostSniRule(host).length;
  return match === 'exact' || (match !== 'any' && wildcardWins);
}

const OUTCOMES: Readonly<Record<Winner, string>> = {
  newcomer: 'this edge serves the newer one',
  oldest: 'this edge serves the older one',
  either: 'this edge serves an unpredictable one of them',
  neither: 'this edge serves neither of them',
  unknown: 'it is unknown which of them this edge serves',
};
