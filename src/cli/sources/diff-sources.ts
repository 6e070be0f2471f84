/**
 * The sources of `snicket diff` with files: a management cluster with files applied to it, or the folder of `snicket
 * run` with its state. Both include the tenants.
 */
import { readWatchedAsync } from '../../files/read-watched.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { timeText, type KubeObject } from '../../kube/object.ts';
import { isTenantRoute } from '../../plan/tenant-routes.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { GATEWAY_KEYS } from '../../management/master-keys.ts';
import type { DryRun } from '../../reconcile/dry-run.ts';
import type { Finding } from '../../api/finding.ts';
import type { ObjectChange } from '../../plan/changes.ts';
import type { TenantRoute } from '../../api/tenant-route.ts';
import type { Cluster } from '../../plan/render.ts';
import { faultText } from '../../standalone/folder/fault.ts';
import { identityOf } from '../../standalone/folder/file-objects.ts';
import type { FolderReading } from '../../standalone/folder/folder-reader.ts';
import { OPERATOR_NAMESPACE } from '../../standalone/folder/rules.ts';
import { emptyFolderText, planSync } from '../../standalone/sync/plan-sync.ts';
import { appliedObjects } from './applied-objects.ts';
import { selectedInFiles, selectedOrFail, type FilesLocation } from './selected-exposures.ts';
import { folderLocation } from './folder-management.ts';
import type { Choice } from '../flags/management-flags.ts';
import { isAt, readerOf } from './object-reader.ts';
import { dryRunsOf, proxyImageOf } from '../plans/dry-runs.ts';
import { withProgress } from '../output/progress.ts';
import { PROXY_IMAGE } from '../plans/proxy-image.ts';
import { READ_TIMEOUT_MS } from './read-timeout.ts';
import { CommandError, printMessage } from '../output/messages.ts';
import { StateSource } from '../status/state-source.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Options common to all sources. */
interface Common {
  readonly io: CommandIo;
  /** Which Exposures are chosen. */
  readonly choice: Choice;
  readonly proxyImage?: string | undefined;
  readonly only?: Cluster | undefined;
}

/** A cluster, and the objects of files to apply to it. */
interface AppliedFiles extends Common {
  readonly client: KubeClient;
  readonly objects: readonly KubeObject[];
  /** Namespace of the operator. */
  readonly namespace: string;
  /** Whether to include the Exposures that are only in the cluster. */
  readonly isWhole: boolean;
}

const FILES: Omit<FilesLocation, 'hasFaults'> = {
  place: 'these files',
  action: 'add a file with an Exposure, or pass -A for all Exposures of the cluster',
};

/** Yields what the operator would do after the files are applied. @throws KubeError, CommandError */
export async function* dryRunsApplied(options: AppliedFiles): AsyncGenerator<DryRun, void> {
  const { io, client, objects, namespace, choice, only } = options;
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const reading = ManagementSnapshot.read(client, signal);
  const read = await withProgress(io, `reading ${client.server}`, reading);
  const live = [...read.all(RESOURCES.edge), ...read.exposures];
  const management = read.with(appliedObjects(live, objects));
  const isInFiles = ({ metadata }: KubeObject) =>
    objects.some((object) => isAt(object, RESOURCES.exposure, metadata));
  const chosen = options.isWhole
    ? selectedOrFail(management.exposures, choice)
    : selectedInFiles(management.exposures.filter(isInFiles), [choice], {
        ...FILES,
        hasFaults: false,
      });
  const proxyImage = options.proxyImage ?? (await proxyImageOf({ io, client, namespace }, signal));
  yield* dryRunsOf(io, chosen, { management, namespace, proxyImage }, only);
}

/** The folder of `snicket run`, and its state. */
interface RunPlaces extends Common {
  readonly folder: string;
  readonly reading: FolderReading;
  readonly state: string;
}

/** Yields what `snicket run` would do after it has read the folder. @throws CommandError */
export async function* dryRunsOfFolder(options: RunPlaces): AsyncGenerator<DryRun, void> {
  const { io, folder, reading, state, choice, proxyImage = PROXY_IMAGE, only } = options;
  // Any folder: a changed copy is compared with the state before it is deployed.
  const source = new StateSource(state, {}, { path: io.path(state) });
  const { edges = [], exposures, tenantRoutes = [] } = await source.read();
  const objects = reading.objects.map(({ object }) => object);
  const live = {
    objects: [...edges, ...exposures],
    tenantRoutes: tenantRoutes.filter(isTenantRoute),
  };
  const all = [
    ...appliedObjects(afterSync(io, live, folder, reading), objects),
    ...tenantRoutes,
    ...objects.filter(({ kind }) => kind === RESOURCES.secret.kind),
    await masterKeys(io, state),
  ];
  const management = new ManagementSnapshot(all, { has: () => false }, readerOf(all));
  const place = { ...folderLocation(folder), hasFaults: false };
  const chosen = selectedInFiles(management.exposures, [choice], place);
  const viewpoint = { management, namespace: OPERATOR_NAMESPACE, proxyImage, isGatewayHere: true };
  for await (const run of dryRunsOf(io, chosen, viewpoint, only)) {
    const isDeleted = run.object.metadata.deletionTimestamp !== undefined;
    // Of the objects that `snicket run` creates, only TenantRoutes are in the file that others may read.
    const routes = run.changes.management.filter(({ object }) => isTenantRoute(object));
    const deleted: ObjectChange[] = isDeleted
      ? [{ action: 'delete', object: run.object, fields: [], waits: false }]
      : [];
    const changes = { ...run.changes, management: [...deleted, ...routes] };
    const isUnread = isDeleted && only !== 'management' && run.findings.length > 0;
    yield { ...run, changes, ...(isUnread && { findings: [notShown(run)] }) };
  }
}

/**
 * Returns the live objects after the folder has been read. Objects that are missing in the folder are deleted, within
 * the limits that `snicket run` sets.
 */
function afterSync(
  io: CommandIo,
  {
    objects: live,
    tenantRoutes,
  }: { readonly objects: readonly KubeObject[]; readonly tenantRoutes: readonly TenantRoute[] },
  folder: string,
  reading: FolderReading,
): readonly KubeObject[] {
  if (reading.files.length === 0) {
    if (live.length > 0) printMessage(io, `warning: ${emptyFolderText(folder)}`);
    return live;
  }
  // Assumes that objects have been missing for long enough.
  const missingSince = new Map(live.map((object) => [identityOf(object), -Infinity]));
  const { remove, faults } = planSync({ reading, live, tenantRoutes, missingSince, nowMs: 0 });
  for (const fault of faults) printMessage(io, `warning: ${faultText(fault)}`);
  return live.flatMap((object) => {
    if (!remove.includes(object)) return [object];
    return object.kind === RESOURCES.exposure.kind ? [markedDeleted(object)] : [];
  });
}

function markedDeleted(exposure: KubeObject): KubeObject {
  const deletionTimestamp = timeText(new Date());
  return { ...exposure, metadata: { deletionTimestamp, ...exposure.metadata } };
}

/**
 * Returns a warning that the cleanup of a tenant is not shown: its Secrets were removed from the folder too. The
 * process keeps them until the cleanup is done.
 */
function notShown({ findings }: DryRun): Finding {
  const [why] = findings;
  const because = why === undefined ? '' : ` ${why.message}`;
  return {
    code: why?.code ?? 'SecretMissing',
    severity: 'warning',
    message: `Objects to be deleted from the tenant are not shown.${because}`,
    action: 'To show them, keep its Secrets in the folder and remove only the Exposure.',
  };
}

/** Returns the Secret that `snicket run` derives from its key file. */
async function masterKeys(io: CommandIo, state: string): Promise<KubeObject> {
  const path = `${state}/${GATEWAY_KEYS.entry}`;
  try {
    const data = {
      [GATEWAY_KEYS.entry]: (await readWatchedAsync(io.path(path))).toString('base64'),
    };
    const metadata = { name: GATEWAY_KEYS.name, namespace: OPERATOR_NAMESPACE };
    const secret: KubeObject & { readonly data: typeof data } = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data,
    };
    return secret;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new CommandError(
      `cannot read ${path}: ${String(error.code)}`,
      `run as the user that owns ${state}`,
    );
  }
}
