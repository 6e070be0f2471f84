/**
 * The hosts that a tenant had before those that it has now. Somebody may still go by them: proxies until they have changed
 * over, clients until they have another kubeconfig. So they are routed, and in the certificate of the control plane, until
 * all of the Exposure is Ready by the new ones, or somebody else has them. Pure.
 */
import type { ExposureStatus } from '../../api/exposure.ts';

/** A route as the status has it. */
export type StatusRoute = NonNullable<ExposureStatus['route']>;

type Hosts = { readonly api: string; readonly konnectivity?: string | undefined };

/** Whether a host is another Exposure's by now. */
export type IsLost = (host: string) => boolean;

const NONE_LOST: IsLost = () => false;

/** Those of the hosts of before that are not among the new ones; none if nothing was routed, or all is as it was. */
export function formerHosts(
  before: Pick<ExposureStatus, 'route' | 'formerRoute'> | undefined,
  { api, konnectivity }: Hosts,
  isLost = NONE_LOST,
): readonly string[] {
  const present = new Set([api, konnectivity]);
  // With two moves one after the other, the first hosts are those that most go by; unless it is back to them.
  for (const route of [before?.formerRoute, before?.route]) {
    const others = hostsIn(route).filter((host) => !present.has(host) && !isLost(host));
    if (others.length > 0) return others;
  }
  return [];
}

/** The route by former hosts: they lead to wherever the new ones lead. */
export function formerRoute(
  before: Pick<ExposureStatus, 'route' | 'formerRoute'> | undefined,
  route: StatusRoute,
  isLost = NONE_LOST,
): StatusRoute | undefined {
  const { api, konnectivity } = route;
  const hosts = new Set(
    formerHosts(before, { api: api.host, konnectivity: konnectivity?.host }, isLost),
  );
  const former = [before?.formerRoute, before?.route].find((one) =>
    hostsIn(one).some((host) => hosts.has(host)),
  );
  if (former === undefined || isLost(former.api.host)) return undefined;
  return {
    api: { ...api, host: former.api.host },
    ...(konnectivity !== undefined &&
      former.konnectivity !== undefined &&
      !isLost(former.konnectivity.host) && {
        konnectivity: { ...konnectivity, host: former.konnectivity.host },
      }),
  };
}

function hostsIn(route: StatusRoute | undefined): readonly string[] {
  return [route?.api.host, route?.konnectivity?.host].flatMap((host) => host ?? []);
}
