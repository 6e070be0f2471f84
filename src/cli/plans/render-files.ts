/**
 * Plans from files alone, without a cluster. Assumes what only a cluster would have, and reports these assumptions.
 */
import type { Finding } from '../../api/finding.ts';
import { driverFor } from '../../edges/driver-for.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { edgeFindings, foreignClaimFindings } from '../../management/edge-state.ts';
import { chartValues } from '../../management/chart-values.ts';
import { acceptedState } from '../../reconcile/conditions/management-conditions.ts';
import { plannedReadingFindings } from '../../reconcile/dry-run.ts';
import { observeExposure, type ObserveDeps } from '../../reconcile/observe.ts';
import { preparationInput } from '../../reconcile/preparation/prepare-exposure.ts';
import { plannedPreparation } from '../../reconcile/preparation/next-step.ts';
import { controlPlaneObjects } from '../../management/control-plane-objects.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import type { ExposurePlan } from './exposure-view.ts';
import {
  DEFAULT_LEASE_DURATION_MS,
  newOwnerLease,
  ownerIdentity,
} from '../../tenant/owner-lease.ts';
import type { ProxyCredentials } from '../../tenant/tenant-facts.ts';
import { placeholder } from '../../plan/placeholder.ts';
import { planExposure } from '../../plan/plan.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import type { ControlPlaneReading } from '../../providers/reading/read-control-plane.ts';
import { resourceOfProvider } from '../../providers/provider-for.ts';
import { isOfKind } from '../../providers/provider-resources.ts';
import { publishedFindings } from '../../providers/reading/published-server.ts';
import { kubernetesAddress } from '../../providers/reading/service-network.ts';
import { filesManagement } from '../sources/requested-exposures.ts';
import { readerOf } from '../sources/object-reader.ts';
import type { TenantSettings } from '../flags/tenant-flags.ts';
import { ASSUMED_APIS, assumedObjects } from './assumed-objects.ts';

/** Assumptions about clusters that are not read. */
interface Assumptions {
  /** Namespace of the operator. */
  readonly namespace: string;
  readonly proxyImage: string;
  /**
   * The settings from flags, for every tenant. The rest comes from the Exposure, from its provider, or from {@link DEFAULTS}.
   */
  readonly tenant: Partial<TenantSettings>;
  /**
   * Whether to plan for `snicket run`, whose gateway is on this machine, and which has only its files. Default false.
   */
  readonly isGatewayHere?: boolean;
}

/** The defaults of kubeadm and most other tools. */
const DEFAULTS: TenantSettings = {
  version: 'v1.36.0',
  serviceAddresses: ['10.96.0.1'],
  clusterDomain: 'cluster.local',
};

/** Returns the chosen Exposures. */
type Chooser = (exposures: readonly KubeObject[]) => readonly KubeObject[];

/**
 * Returns the plan of each chosen Exposure, by name, and a sentence for each object that was added. The Exposures are
 * those in the files, and those that annotations in the files request. The others are taken into account too, because
 * they may use the same host. By default, all are chosen.
 *
 * @throws what `choose` throws
 */
export async function plansOfFiles(
  files: readonly KubeObject[],
  assumptions: Assumptions,
  choose: Chooser = (all) => all,
): Promise<{ readonly shown: readonly ExposurePlan[]; readonly notes: readonly string[] }> {
  const { objects, requested, unresolved, management: inFiles } = filesManagement(files);
  const chosen = new Set(choose([...inFiles.exposures, ...unresolved]));
  const added = assumptions.isGatewayHere === true ? [] : await assumedObjects(objects, chosen);
  const all = [...objects, ...added];
  const management = new ManagementSnapshot(all, ASSUMED_APIS, readerOf(all));
  const deps = { ...assumptions, management };
  const shown: ExposurePlan[] = [];
  for (const object of chosen) {
    const shimFindings = requested.findings.get(keyText(object.metadata)) ?? [];
    if (unresolved.includes(object)) {
      shown.push({ object, findings: shimFindings });
      continue;
    }
    const one = await exposurePlan(object, deps, assumptions);
    shown.push({ ...one, findings: [...one.findings, ...shimFindings] });
  }
  return {
    shown: shown.toSorted((a, b) =>
      keyText(a.object.metadata) < keyText(b.object.metadata) ? -1 : 1,
    ),
    notes: [
      ...shown.flatMap(ownershipNote),
      ...shown.flatMap((one) => versionNotes(one, files)),
      ...[...chosen].flatMap(({ metadata }) => requested.sentences.get(keyText(metadata)) ?? []),
      ...added.map((object) => `${objectText(object)} is in no file, and was assumed`),
    ],
  };
}

/**
 * Returns a note on fields whose field manager a file does not show. The operator does not overwrite fields of other
 * managers.
 */
function ownershipNote({ object, preparation }: ExposurePlan): readonly string[] {
  const names = (preparation?.plans ?? [])
    .filter(
      ({ live, differing }) => differing.length > 0 && live.metadata.managedFields === undefined,
    )
    .map(({ live }) => objectText(live));
  if (names.length === 0) return [];
  const key = keyText(object.metadata);
  return [
    `${key}: whether another field manager owns fields of ${names.join(', ')} cannot be checked from a file`,
  ];
}

/** Returns a note on each prepared object that its file has in an older version. The cluster may serve only that. */
function versionNotes(
  { object, preparation }: ExposurePlan,
  files: readonly KubeObject[],
): readonly string[] {
  return (preparation?.plans ?? []).flatMap(({ live }) => {
    const written = files.find(
      (one) =>
        isOfKind(resourceOfProvider(live), one) && keyText(one.metadata) === keyText(live.metadata),
    );
    if (written === undefined || written.apiVersion === live.apiVersion) return [];
    return `${keyText(object.metadata)}: whether the cluster serves ${objectText(live)} as ${live.apiVersion} cannot be checked from a file, which has ${written.apiVersion}. Without ${live.apiVersion}, there is no spec.patches, and k0smotron runs its own proxy on the workers`;
  });
}

async function exposurePlan(
  object: KubeObject,
  deps: ObserveDeps & { readonly management: ManagementSnapshot },
  assumptions: Assumptions,
): Promise<ExposurePlan> {
  const { management } = deps;
  const { value: resolved, finding } = management.exposureIndex.resolve(object);
  if (resolved === undefined) return { object, findings: [finding] };
  const { signal } = new AbortController();
  const observation = await observeExposure(object, resolved, deps, signal);
  const { reading, facts } = observation;
  const { clusterDomain } = resolved.exposure.spec.controlPlane;
  const tenant = {
    ...DEFAULTS,
    ...settingsIn(reading.provided),
    ...assumptions.tenant,
    nodes: [],
    ...(clusterDomain !== undefined && { clusterDomain }),
  };
  const { mode } = planExposure(resolved, facts);
  const planned = planExposure(resolved, { ...facts, tenant, credentials: CREDENTIALS[mode] });
  const plan = { ...planned, tenant: planned.tenant && [leaseOf(object), ...planned.tenant] };
  const { routes, hosts } = plan;
  const { port, driver } = resolved.edge.spec;
  const input =
    acceptedState(plan).status === 'True'
      ? preparationInput(observation, plan, management)
      : undefined;
  const preparation = input && plannedPreparation(input);
  const isPublished = preparation?.plans.every(({ differing }) => differing.length === 0) === true;
  const published =
    input === undefined || reading.provided === undefined || !isPublished
      ? []
      : publishedFindings(reading.provided, input.spec, input.policy);
  // The setup of the edge is checked only if the files contain it.
  const hasEdgeSetup = driverFor(driver).reads.every((kind) => management.all(kind).length > 0);
  return {
    object,
    resolved,
    plan,
    preparation,
    chart:
      input === undefined || hosts === undefined
        ? undefined
        : await chartValues(
            input.provided,
            { hosts, port },
            controlPlaneObjects(management, signal),
          ),
    findings: [
      ...plan.findings,
      ...(resolved.warning === undefined ? [] : [resolved.warning]),
      ...(preparation?.findings ?? []),
      ...published,
      ...readingFindings(reading),
      ...foreignClaimFindings(deps, object, plan, resolved.edge),
      ...(routes === undefined || !hasEdgeSetup ? [] : edgeFindings(deps, routes, resolved.edge)),
    ],
  };
}

function leaseOf({ metadata }: KubeObject): KubeObject {
  const identity = ownerIdentity(placeholder('uid of Namespace kube-system'), keyText(metadata));
  return newOwnerLease(identity, DEFAULT_LEASE_DURATION_MS);
}

/** Returns the findings, with what to do about a control plane that no file has. */
function readingFindings(reading: ControlPlaneReading): readonly Finding[] {
  return plannedReadingFindings(reading).map((finding) =>
    finding.code === 'ControlPlaneMissing' && finding.severity === 'warning'
      ? { ...finding, action: 'If it exists, add it to the files.' }
      : finding,
  );
}

const CREDENTIALS: Readonly<Record<'Terminate' | 'Passthrough', ProxyCredentials>> = {
  Terminate: {
    certificate: placeholder("a certificate signed by the tenant's CA, created by the operator"),
    key: placeholder('its key, created by the operator'),
  },
  Passthrough: {
    tenantKey: placeholder("a key that the operator derives from the gateway's"),
  },
};

/** Returns the settings of the tenant that the object of its provider determines. */
function settingsIn(provided: ProvidedFacts | undefined): Partial<TenantSettings> {
  if (provided === undefined) return {};
  const { version, serviceCidrs, clusterDomain } = provided;
  const [address] = serviceCidrs.slice(0, 1).flatMap((network) => kubernetesAddress(network) ?? []);
  return {
    ...(version !== undefined && { version }),
    ...(address !== undefined && { serviceAddresses: [address] }),
    clusterDomain,
  };
}
