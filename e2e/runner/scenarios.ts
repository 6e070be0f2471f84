/** The end-to-end scenarios, with what each needs from the machine, and the order in which they start. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { edgeParts, providerParts, type Part } from '../../world/parts/catalog.ts';

/** One file `e2e/NAME.test.ts`. */
export interface Scenario {
  readonly name: string;
  /** The parts that it needs besides those of every world. */
  readonly parts: readonly Part[];
  /** Whether it runs only when named, with `--all`, and while there is time. Core scenarios always run. */
  readonly isOptional: boolean;
  /** Whether it must run alone, because it compares the machine before and after. */
  readonly isExclusive: boolean;
  /** Inotify instances of its worlds and of the controllers that it starts. */
  readonly inotifyInstances: number;
  /** Duration on two cores while another scenario runs. The longest scenarios start first. */
  readonly seconds: number;
}

/** A scenario as listed here. Missing fields have the values of {@link DEFAULTS}. */
type ScenarioOptions = Partial<Omit<Scenario, 'name'>>;

/** Defaults: three control planes with a worker each. */
const DEFAULTS: Omit<Scenario, 'name'> = {
  parts: [],
  isOptional: false,
  isExclusive: false,
  inotifyInstances: 60,
  seconds: 60,
};

const HAPROXY_INGRESS = [edgeParts.haproxyIngress, edgeParts.haproxy];

/** Optional scenarios are in order of importance. A file that is not listed is a core scenario with the defaults. */
const LISTED: Readonly<Record<string, ScenarioOptions>> = {
  'clean-up': { isExclusive: true },
  'control-plane': { seconds: 116 },
  crds: { inotifyInstances: 12, seconds: 25 },
  'data-plane': { seconds: 103 },
  doctor: { parts: HAPROXY_INGRESS },
  'doctor-edge': { parts: [edgeParts.traefik], inotifyInstances: 40 },
  documents: { inotifyInstances: 40, seconds: 190 },
  examples: { inotifyInstances: 12, seconds: 73 },
  'external-cloud': { inotifyInstances: 40, seconds: 51 },
  // Two control planes and one worker.
  failover: { inotifyInstances: 32, seconds: 126 },
  image: { inotifyInstances: 40, seconds: 87 },
  k0smotron: { inotifyInstances: 40, seconds: 80 },
  konnectivity: { seconds: 200 },
  kube: { inotifyInstances: 12, seconds: 84 },
  'real-edges': { parts: [edgeParts.traefik, ...HAPROXY_INGRESS] },
  'render-and-diff': { inotifyInstances: 40, seconds: 97 },
  resilience: { seconds: 124 },
  'tcp-proxy': { inotifyInstances: 48, seconds: 99 },
  'tenant-objects': { inotifyInstances: 24, seconds: 39 },
  'tenant-proxies': { inotifyInstances: 32, seconds: 246 },
  // Three control planes and one worker.
  'two-management-clusters': { inotifyInstances: 44, seconds: 100 },
  // It starts a second world in addition to its first.
  'world-command': { inotifyInstances: 80, seconds: 110 },
  'providers-exposed': {
    isOptional: true,
    parts: Object.values(providerParts),
    inotifyInstances: 84,
  },
  providers: {
    isOptional: true,
    parts: [...Object.values(providerParts), ...HAPROXY_INGRESS],
    inotifyInstances: 100,
  },
  edges: { isOptional: true, parts: Object.values(edgeParts), inotifyInstances: 40 },
  'envoy-edges': {
    isOptional: true,
    parts: [edgeParts.envoyGateway, edgeParts.contour, edgeParts.envoy],
  },
};

/** Returns every scenario in the folder in the order in which they start: core before optional. */
export function findScenarios(folder: string): readonly Scenario[] {
  const names = readdirSync(folder).flatMap((file) => /^(.+)\.test\.ts$/.exec(file)?.[1] ?? []);
  const known = Object.keys(LISTED);
  return names
    .map((name) => ({ ...DEFAULTS, ...LISTED[name], name }))
    .toSorted((first, second) => {
      if (first.isOptional !== second.isOptional) return first.isOptional ? 1 : -1;
      if (first.isOptional) return known.indexOf(first.name) - known.indexOf(second.name);
      // An exclusive scenario does not use all processors, so it runs last.
      if (first.isExclusive !== second.isExclusive) return first.isExclusive ? 1 : -1;
      return second.seconds - first.seconds;
    });
}

/** Returns the path of a scenario's test file. */
export function testFile(folder: string, { name }: Scenario): string {
  return join(folder, `${name}.test.ts`);
}
