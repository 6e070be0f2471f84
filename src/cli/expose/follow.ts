/**
 * Follows an Exposure until it is Ready.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import type { ExposeFlags } from '../expose.ts';
import { currentScreen } from '../output/output.ts';
import { printMessage } from '../output/messages.ts';
import { ClusterSource } from '../status/cluster-source.ts';
import { statusViewOf, type ExposureView, type StatusView } from '../status/status-view.ts';
import { exposureText } from '../status/exposure-text.ts';
import type { CommandIo } from '../io/command-io.ts';

/**
 * Prints progress until the Exposure is Ready and reachable, or what is wrong after the timeout. Returns whether it is.
 */
export async function followUntilReady(
  io: CommandIo,
  client: KubeClient,
  { metadata }: KubeObject,
  { timeout, operatorNamespace }: Pick<ExposeFlags, 'timeout' | 'operatorNamespace'>,
): Promise<boolean> {
  const { name, namespace } = metadata;
  const ended = new AbortController();
  const source = new ClusterSource(client, { name, namespace }, operatorNamespace);
  const startMs = performance.now();
  let printed = '';
  let last: StatusView | undefined;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const update = () => {
    const followed = following.current();
    if (followed === undefined) return;
    last = statusViewOf(followed.objects);
    const [exposure] = last.exposures;
    const step = followed.staleReason ?? (exposure === undefined ? 'deleted' : stepText(exposure));
    const seconds = Math.round((performance.now() - startMs) / 1000);
    if (step !== printed) printMessage(io, `${String(seconds).padStart(4)}s  ${step}`);
    printed = step;
    if (exposure !== undefined && isUsable(exposure)) resolve(true);
    if (exposure === undefined) resolve(false);
  };
  printMessage(io, `waiting for Exposure ${keyText(metadata)} to be Ready:`);
  const following = source.follow(update, ended.signal);
  const timer = setTimeout(() => resolve(false), timeout);
  const isReady = await promise;
  clearTimeout(timer);
  ended.abort();
  if (!isReady) printProblems(io, last, timeout);
  return isReady;
}

/** Ready, and reachable by clients and agents. */
function isUsable({ ready, conditions }: ExposureView): boolean {
  return ready === 'True' && conditions.every(({ status }) => status === 'True');
}

function stepText(exposure: ExposureView): string {
  const { ready, reason, conditions } = exposure;
  if (isUsable(exposure)) return 'Ready';
  const isPart = (type: string) => type !== 'Ready';
  const done = conditions.filter(({ type, status }) => isPart(type) && status === 'True');
  const open = conditions.find(({ type, status }) => isPart(type) && status !== 'True');
  const before =
    done.length === 0 ? '' : `${done.map(({ type }) => type).join(', ')}; waiting for: `;
  return `${before}${ready === 'True' ? (open?.reason ?? reason) : reason}`;
}

function printProblems(io: CommandIo, last: StatusView | undefined, timeoutMs: number): void {
  const [exposure] = last?.exposures ?? [];
  if (last !== undefined && exposure === undefined) {
    printMessage(io, 'error: the Exposure was deleted');
    return;
  }
  printMessage(io, `error: timed out after ${timeoutMs / 1000}s: the Exposure is not Ready`);
  if (last === undefined || exposure === undefined) return;
  const screen = io.stderr.isTTY ? currentScreen(io) : { hasColors: false };
  const options = { screen, now: new Date(), hasNamespaces: true };
  io.stderr.write(`\n${exposureText(exposure, last, options)}`);
}
