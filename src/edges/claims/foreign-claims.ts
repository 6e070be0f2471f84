/**
 * Claims of Snicket's hosts by foreign route objects. Controllers often serve these, and no status reports it. TLS is
 * end to end: such a claim can make a tenant unreachable, but cannot read its traffic.
 */
import type { Edge } from '../../api/edge.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { error, warning, type EdgeFinding } from '../codes.ts';
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
): readonly EdgeFinding[] {
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
): EdgeFinding | undefined {
  const { collision } = driverFor(edge.spec.driver);
  const text = objectText(object);
  const away = 'delete that claim, or choose another host';
  if (match === 'unclear') {
    if (claim.match === 'any') return undefined;
    const message = `${host} is claimed by ${text} too (${claim.host}), which may or may not be on this edge`;
    return warning('HostClaimed', message, `if it is, ${away}`);
  }
  const takes = takesHost(claim, host, collision.wildcardWins);
  switch (claim.match) {
    case 'exact':
      return takes
        ? error(
            'HostClaimed',
            `${host} is claimed by ${text} too, and ${OUTCOMES[collision.sameHost]}`,
            away,
          )
        : warning(
            'HostClaimed',
            `${host} is claimed by ${text} too, which this edge asks later`,
            away,
          );
    case 'regexp':
      return warning(
        'HostClaimed',
        `${host} may match ${claim.host} of ${text}, which this edge asks ${takes ? 'first' : 'later'}`,
        'make sure that it does not match',
      );
    case 'label':
    case 'suffix':
    case 'any':
      if (takes)
        return error(
          'HostClaimed',
          `${host} is covered by ${claim.host} of ${text}, which this edge asks first`,
          away,
        );
      // The default backend of an edge does not compete with a route.
      return claim.match === 'any'
        ? undefined
        : warning(
            'HostClaimed',
            `${host} is covered by ${claim.host} of ${text}, which gets its connections while the route is not there`,
            'make sure that its owner knows',
          );
  }
}

/** Reports whether the edge prefers the claim to Snicket's route for the host. */
function takesHost({ match, priority }: Claim, host: string, wildcardWins: boolean): boolean {
  if (priority !== undefined) return priority >= hostSniRule(host).length;
  return match === 'exact' || (match !== 'any' && wildcardWins);
}

const OUTCOMES: Readonly<Record<Winner, string>> = {
  newcomer: 'this edge serves the newer one',
  oldest: 'this edge serves the older one',
  either: 'this edge serves one of them by chance',
  neither: 'this edge serves neither of them',
  unknown: 'which of them this edge serves is not known',
};
