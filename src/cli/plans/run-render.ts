/**
 * Prints plans, from a cluster or from files.
 */
import type { Command } from 'commander';
import { selectionOf, type NamedExposure } from '../flags/management-flags.ts';
import { tenantSettingsOf } from '../flags/tenant-flags.ts';
import type { CommandIo } from '../io/command-io.ts';
import { printMessage } from '../output/messages.ts';
import type { RenderFlags } from '../render.ts';
import {
  FILES_LOCATION,
  fileSourceOf,
  rejectStateOfFiles,
  selectionIn,
  validObjects,
} from '../sources/file-source.ts';
import { folderLocation, withState } from '../sources/folder-management.ts';
import { openManagement } from '../sources/open-management.ts';
import { selectedInFiles, selectedOrFail } from '../sources/selected-exposures.ts';
import { planText, printPlans, reportFindings } from './plans.ts';
import { PROXY_IMAGE } from './proxy-image.ts';
import { plansOfFiles } from './render-files.ts';

/** Prints the plans of the chosen Exposures in a cluster. */
export async function renderCluster(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  flags: RenderFlags,
): Promise<void> {
  const { client, access } = openManagement(io, flags, { hasFolderFlags: true });
  const { operatorNamespace: namespace, proxyImage, only, showSecrets, values } = flags;
  await printPlans(io, {
    client,
    namespace,
    proxyImage,
    choose: (exposures) => selectedOrFail(exposures, selectionOf(exposure, flags, access)),
    // The values depend on nothing in the tenant, which may not exist yet.
    only: values ? 'management' : only,
    showSecrets,
    values,
  });
}

/** Prints the plans of the chosen Exposures in files, or in the folder of `snicket run`. */
export async function renderFiles(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  flags: RenderFlags,
  command: Command,
): Promise<void> {
  const source = await fileSourceOf(io, exposure, flags, command);
  const { folder } = source;
  const { state } = flags;
  if (folder === undefined) rejectStateOfFiles(command);
  const { objects: read } = (await validObjects(io, source, flags.namespace)) ?? {};
  if (read === undefined) return;
  const objects =
    folder === undefined || state === undefined ? read : await withState(io, read, folder, state);
  const assumptions = {
    namespace: flags.operatorNamespace,
    isGatewayHere: folder !== undefined,
    proxyImage: flags.proxyImage ?? PROXY_IMAGE,
    tenant: tenantSettingsOf(flags),
  };
  const location = folder === undefined ? FILES_LOCATION : folderLocation(folder);
  const { shown, notes } = await plansOfFiles(objects, assumptions, (exposures) =>
    selectedInFiles(exposures, [selectionIn(source, flags)], { ...location, hasFaults: false }),
  );
  for (const one of shown) reportFindings(io, one);
  for (const sentence of notes) printMessage(io, `note: ${sentence}`);
  const texts = shown.map((one) => planText(one, flags).trimEnd());
  io.stdout.write(`${texts.join('\n---\n')}\n`);
}
