/**
 * Brings one Exposure about: routes in the management cluster, everything else in the tenant's, and a status that says
 * how far that is. Level-based: each run looks at what is there now, and a run that changes nothing writes nothing.
 */
import type { Exposure, ExposureStatus } from '../../api/exposure.ts';
import type { Applier } from '../../kube/apply.ts';
import type { EventRecorder } from '../../kube/events.ts';
import { addFinalizer } from '../../kube/finalizer.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { HopResult } from '../../probe/hop.ts';
import { planExposure, type Plan } from '../../plan/plan.ts';
import { readControlPlane, type ControlPlaneReading } from '../../providers/read-control-plane.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import type { KnownWish } from '../management/exposure-book.ts';
import type { MasterKeys } from '../master-keys.ts';
import type { ProbeRounds } from '../probe-rounds.ts';
import type { TenantLink } from '../tenant/tenant-link.ts';
import type { TenantLinks } from '../tenant/tenant-links.ts';
import { bringTenant, type TenantOutcome } from '../tenant/bring-tenant.ts';
import { nextStatus, type StatusInput } from './exposure-status.ts';
import { konnectivityVerdict, reachableVerdict } from './hop-verdicts.ts';
import { leave } from './leave.ts';
import { NameTaken, type Routing } from './routing.ts';
import { fails, holds, notYet, readyVerdict, type Verdict, type Verdicts } from './verdicts.ts';

/** Holds a deleted Exposure until nothing of it is left. */
export const FINALIZER = 'snicket.dev/clean-up';

/** What the controller works with. */
export interface ExposureControllerOptions {
  readonly management: ManagementCluster;
  readonly routing: Routing;
  readonly links: TenantLinks;
  /** One for each tenant's API server. */
  readonly applierFor: (link: TenantLink) => Applier;
  readonly probes: ProbeRounds;
  readonly events: EventRecorder;
  readonly masterKeys: () => Promise<MasterKeys>;
  readonly log: Logger;
  /** The image of the proxy, for Exposures that name none. */
  readonly proxyImage: string;
  /** How long a deleted Exposure waits for a tenant that cannot be reached. */
  readonly leaveTimeoutMs: number;
  /** How often a steady Exposure is looked at nevertheless: Secrets are not watched. */
  readonly resyncMs: number;
}

/** When to look again; undefined: when something changes. */
export type LookAgainMs = number | undefined;

/** The controller of Exposures. */
export class ExposureController {
  readonly #options: ExposureControllerOptions;

  constructor(options: ExposureControllerOptions) {
    this.#options = options;
  }

  /** @throws KubeError for what should be tried again soon. */
  async reconcile(key: string, signal: AbortSignal): Promise<LookAgainMs> {
    const { management, probes } = this.#options;
    const object = management.exposures.get(keyIn(key));
    if (object === undefined) {
      this.#forget(key);
      return undefined;
    }
    if (object.metadata.deletionTimestamp !== undefined) {
      probes.forget(key);
      const lookAgainMs = await leave(object, FINALIZER, this.#options, signal);
      if (lookAgainMs === undefined) this.#forget(key);
      return lookAgainMs;
    }
    const { value: wish, finding } = management.book.wishOf(object);
    if (wish === undefined) {
      await this.#report(object, { verdicts: refused(fails(finding)) }, signal);
      return undefined;
    }
    const held = await addFinalizer(
      ...([management.client, RESOURCES.exposure, object, FINALIZER, { signal }] as const),
    );
    return held === undefined ? undefined : this.#bringAbout(key, object, wish, signal);
  }

  #forget(key: string): void {
    this.#options.links.forget(key);
    this.#options.probes.forget(key);
  }

  async #bringAbout(
    key: string,
    object: KubeObject,
    wish: KnownWish,
    signal: AbortSignal,
  ): Promise<LookAgainMs> {
    const { management, routing, probes, resyncMs } = this.#options;
    const { exposure, edge, conflict } = wish;
    const reading = await readControlPlane(exposure, {
      service: (at) => management.service(at),
      secret: async (at) => management.client.get(RESOURCES.secret, at, { signal }),
    });
    const facts = {
      ...{ controlPlane: reading.controlPlane, conflict, served: management.served },
      edgeAddresses: routing.addressesOf(edge, management.ownedBy(object)),
      currentSlices: [],
      proxyImage: this.#options.proxyImage,
    };
    const plan = planExposure(wish, facts);
    const accepted = acceptedVerdict(plan);
    const prepared = accepted.status === 'True' ? preparedVerdict(reading) : notYet('Accepted');

    const obstacle = await this.#route(object, wish, plan, signal);
    const verdicts = (tenant?: TenantOutcome): Verdicts => {
      const hops = probes.hopsOf(key) ?? statusOf(object)?.hops ?? [];
      const isRouted = accepted.status === 'True' && plan.routes !== undefined;
      const later = isRouted
        ? undefined
        : notYet(accepted.status === 'True' ? 'Prepared' : 'Accepted');
      return {
        Accepted: accepted,
        Prepared: prepared,
        Routed: obstacle ?? later ?? routing.verdict(object, edge, plan, hops),
        TenantReady: later ?? tenant?.verdict ?? tenantBefore(object),
        KonnectivityReady: later ?? konnectivityVerdict(plan, hops),
        Reachable: later ?? reachableVerdict(hops),
      };
    };
    // The gateway reads the status: a tenant that is slow to answer must not keep its route waiting.
    const input = { edge, plan, hops: undefined };
    if (!isRoutedAs(object, plan)) {
      await this.#report(object, { ...input, verdicts: verdicts() }, signal);
    }
    if (plan.routes === undefined) {
      probes.forget(key);
      await this.#report(object, { ...input, verdicts: verdicts() }, signal);
      return accepted.status === 'True' ? resyncMs : undefined;
    }

    const tenant = await bringTenant({ key, wish, reading, plan, facts }, this.#options, signal);
    this.#aimProbes(key, wish, plan, reading, facts.edgeAddresses);
    await this.#report(
      object,
      {
        ...input,
        hops: hopsOf(probes.hopsOf(key), tenant),
        ...{ proxies: tenant.proxies, certificate: tenant.certificate },
        verdicts: verdicts(tenant),
      },
      signal,
    );
    return Math.min(tenant.lookAgainMs ?? resyncMs, resyncMs);
  }

  /** Applies the routes; what stands in their way is a verdict. */
  async #route(
    object: KubeObject,
    { edge }: KnownWish,
    plan: Plan,
    signal: AbortSignal,
  ): Promise<Verdict | undefined> {
    try {
      await this.#options.routing.apply(object, edge, plan, signal);
      return undefined;
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error;
      return fails(error.finding);
    }
  }

  #aimProbes(
    key: string,
    { edge }: KnownWish,
    { hosts, routes }: Plan,
    { controlPlane }: ControlPlaneReading,
    edgeAddresses: readonly string[],
  ): void {
    const tenantCa = controlPlane?.ca?.certificate;
    if (hosts === undefined || tenantCa === undefined) return;
    this.#options.probes.aim(key, {
      ...{ apiHost: hosts.api, konnectivityHost: routes?.konnectivity?.host },
      ...{ port: edge.spec.port, edgeAddresses, tenantCa },
    });
  }

  /** Writes the status, if it says something new, and tells people when Ready turns. */
  async #report(
    object: KubeObject,
    input: Omit<StatusInput, 'generation'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { management, events, log } = this.#options;
    const latest = management.exposures.get(object.metadata) ?? object;
    const before = statusOf(latest);
    const generation = object.metadata.generation ?? 0;
    const status = nextStatus(before, { ...input, generation }, new Date());
    if (Bun.deepEquals(status, before)) return;
    const { apiVersion, kind, metadata } = object;
    const { name, namespace } = metadata;
    const applied = { apiVersion, kind, metadata: { name, namespace }, status };
    await management.client.apply(applied, { subresource: 'status', force: true, signal });
    const ready = readyVerdict(input.verdicts);
    const wasReady = before?.conditions?.find(({ type }) => type === 'Ready');
    if (wasReady?.status === ready.status && wasReady.reason === ready.reason) return;
    const isReady = ready.status === 'True';
    events.record(object, {
      type: isReady ? 'Normal' : 'Warning',
      ...{ action: 'Expose', reason: ready.reason, note: ready.message },
    });
    log.info('exposure', { exposure: keyText(metadata), ready: isReady, reason: ready.reason });
  }
}

/** `namespace/name`, apart. */
function keyIn(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Nothing is looked into before the wish is a good one. */
function refused(accepted: Verdict): Verdicts {
  const later = notYet('Accepted');
  return {
    ...{ Accepted: accepted, Prepared: later, Routed: later },
    ...{ TenantReady: later, KonnectivityReady: later, Reachable: later },
  };
}

function acceptedVerdict({ findings }: Plan): Verdict {
  const wrong = findings.find(({ about, severity }) => about === 'wish' && severity === 'error');
  return wrong === undefined
    ? holds('Accepted', 'the Edge is there and the hosts are free')
    : fails(wrong);
}

function preparedVerdict({ findings }: ControlPlaneReading): Verdict {
  const [wrong] = findings;
  return wrong === undefined
    ? holds('Prepared', 'the control plane is there, with its Service, CA and kubeconfig')
    : fails(wrong);
}

/** Whether the gateway can already read what the plan says. */
function isRoutedAs(object: KubeObject, { routes }: Plan): boolean {
  const route = statusOf(object)?.route;
  return (
    route?.api.host === routes?.api.host &&
    route?.api.service === routes?.api.service &&
    route?.api.port === routes?.api.port &&
    route?.konnectivity?.host === routes?.konnectivity?.host
  );
}

/** What was known of the tenant before this look at it. */
function tenantBefore(object: KubeObject): Verdict {
  const known = statusOf(object)?.conditions?.find(({ type }) => type === 'TenantReady');
  const { status = 'Unknown', reason = 'NotLookedAt', message = 'not looked at yet' } = known ?? {};
  return { status, reason, message };
}

/** In the order of the path; nothing new before the first probe. */
function hopsOf(
  probed: readonly HopResult[] | undefined,
  { hops }: TenantOutcome,
): readonly HopResult[] | undefined {
  if (probed === undefined) return undefined;
  const known = new Map(hops.map((hop) => [hop.name, hop]));
  return probed.map((hop) => known.get(hop.name) ?? hop);
}

function statusOf(object: KubeObject): ExposureStatus | undefined {
  return (object as Partial<Exposure>).status;
}
