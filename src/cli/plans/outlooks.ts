/**
 * The outlooks of Exposures, for tools: some at the same time, told by their names.
 */
import { formerRoutes, formerRoutesKept } from '../../edges/former-routes.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { installedProxyImage, ownProxyImage } from '../../management/installed-image.ts';
import type { Viewpoint } from '../../reconcile/observe.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { outlookOf, type Outlook } from '../../reconcile/outlook.ts';
import type { Cluster } from '../../plan/render.ts';
import { someOf } from '../sources/chosen-exposures.ts';
import { withProgress } from '../output/progress.ts';
import { PROXY_IMAGE } from './proxy-image.ts';
import { say } from '../output/say.ts';
import type { CommandIo } from '../io/command-io.ts';

/** How many Exposures are looked at together: most of the time is spent waiting for tenants. */
const TOGETHER = 16;

/** A management cluster to look at. */
export interface OutlooksOptions {
  readonly io: CommandIo;
  readonly client: KubeClient;
  /** Of the operator. */
  readonly namespace: string;
  /** Default: as the operator's own pod or its Deployment has it, or the image of this version. */
  readonly proxyImage?: string | undefined;
  /** The Exposures that are meant. Default: all. @throws NothingChosen */
  readonly choose?: ((exposures: readonly KubeObject[]) => readonly KubeObject[]) | undefined;
  /** `management`: no tenant is asked. Default: both clusters. */
  readonly only?: Cluster | undefined;
}

/** The outlooks of Exposures in a cluster, by their names. @throws KubeError of the management cluster, NothingChosen */
export async function* outlooks(
  options: OutlooksOptions,
): AsyncGenerator<Outlook, void, undefined> {
  const { io, client, namespace, choose = everyOne, only } = options;
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const reading = ManagementSnapshot.read(client, signal);
    const management = await withProgress(io, `reading ${client.server}`, reading);
    const chosen = choose(management.exposures);
    const proxyImage = options.proxyImage ?? (await proxyImageOf(options, signal));
    yield* outlooksFrom(io, chosen, { management, namespace, proxyImage }, only);
  } finally {
    ended.abort();
  }
}

function everyOne(exposures: readonly KubeObject[]): readonly KubeObject[] {
  return someOf(exposures, {});
}

/** The outlooks of these Exposures, in their order. @throws KubeError of the management cluster */
export async function* outlooksFrom(
  io: CommandIo,
  exposures: readonly KubeObject[],
  viewpoint: Viewpoint,
  only?: Cluster,
): AsyncGenerator<Outlook, void, undefined> {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const ahead: Begun[] = [];
    for (const object of exposures) {
      const outlook = outlookOf(object, viewpoint, signal, { asksTenant: only !== 'management' });
      // Until its turn comes nobody waits for it, and a failure before that would end the process.
      outlook.catch(() => undefined);
      ahead.push({ object, outlook });
      if (ahead.length === TOGETHER) yield withFormerRoutes(await first(io, ahead));
    }
    while (ahead.length > 0) yield withFormerRoutes(await first(io, ahead));
  } finally {
    ended.abort();
  }
}

/** The routes of a former driver that the operator does not delete yet. */
export function formerRoutesIn({ wish, plan, management }: Outlook): readonly KubeObject[] {
  if (wish === undefined || plan?.routes === undefined) return [];
  const { superfluous = [], previous = [] } = management ?? {};
  return [...formerRoutes(superfluous, wish.edge), ...previous];
}

/** The outlook with a finding about such routes, if there are some. */
function withFormerRoutes(outlook: Outlook): Outlook {
  const { wish, findings } = outlook;
  const kept = wish && formerRoutesKept(formerRoutesIn(outlook), wish.edge);
  return kept === undefined ? outlook : { ...outlook, findings: [...findings, kept] };
}

interface Begun {
  readonly object: KubeObject;
  readonly outlook: Promise<Outlook>;
}

async function first(io: CommandIo, ahead: Begun[]): Promise<Outlook> {
  const begun = ahead.shift();
  if (begun === undefined) throw new RangeError('nothing has begun');
  const { object, outlook } = begun;
  return withProgress(io, `waiting for the tenant of ${keyText(object.metadata)}`, outlook);
}

/** The image that the operator gives to proxies, as far as can be told. @throws KubeError */
export async function proxyImageOf(
  { io, client, namespace }: Pick<OutlooksOptions, 'io' | 'client' | 'namespace'>,
  signal: AbortSignal,
): Promise<string> {
  const own = ownProxyImage(io.env);
  if (own !== undefined) return own;
  try {
    return (await installedProxyImage(client, namespace, signal)) ?? PROXY_IMAGE;
  } catch (error) {
    if (!isKubeError(error, 'Forbidden')) throw error;
    say(
      io,
      `warning: the operator's Deployment cannot be read, so its proxies are taken to be of image ${PROXY_IMAGE}; name another with --proxy-image`,
    );
    return PROXY_IMAGE;
  }
}
