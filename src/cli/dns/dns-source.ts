/**
 * The Exposures of which `snicket dns` checks or prints names: in a cluster, in files, or in the folder of `snicket run`.
 */
import type { Command } from 'commander';
import { keyText, type KubeObject } from '../../kube/object.ts';
import type { ManagementSnapshot } from '../../management/management-snapshot.ts';
import type { DnsFlags } from '../dns.ts';
import {
  parseExposureName,
  rejectContradictions,
  rejectGiven,
  type NamedExposure,
} from '../flags/management-flags.ts';
import type { CommandIo } from '../io/command-io.ts';
import { printMessage } from '../output/messages.ts';
import {
  FILES_LOCATION,
  filesAndNames,
  rejectStateOfFiles,
  selectionIn,
  validObjects,
} from '../sources/file-source.ts';
import { readManagement } from '../sources/read-management.ts';
import { filesManagement } from '../sources/requested-exposures.ts';
import { noExposureText, selectedInFiles } from '../sources/selected-exposures.ts';
import type { NamedFinding } from './required-names.ts';

/** The chosen Exposures. */
interface DnsSource {
  readonly management: ManagementSnapshot;
  readonly chosen: readonly KubeObject[];
  /** Errors about annotations that do not result in an Exposure. */
  readonly findings: readonly NamedFinding[];
}

/**
 * Reads the chosen Exposures. Returns undefined if files have errors, which are printed and set the exit code.
 *
 * @throws AccessError, CommandError, FolderUnreadable, KubeError
 */
export async function dnsSource(
  io: CommandIo,
  named: readonly NamedExposure[],
  { filename, ...flags }: DnsFlags,
  command: Command,
): Promise<DnsSource | undefined> {
  const values = filename && filesAndNames(io, filename);
  const exposures = [...named, ...(values?.names ?? []).map((name) => parseExposureName(name))];
  if (values !== undefined && values.folder === undefined) {
    for (const exposure of exposures) rejectContradictions(exposure, flags);
    rejectStateOfFiles(command);
    rejectGiven(['kubeconfig', 'context'], 'cannot be combined with -f', command);
    return sourceOfFiles(io, { ...values, exposures }, flags);
  }
  const source = { ...flags, filename: values?.folder };
  const { management, choices, select } = await readManagement(io, exposures, source, command);
  const chosen = select(choices);
  if (chosen.length === 0) printMessage(io, noExposureText(choices));
  return { management, chosen, findings: [] };
}

async function sourceOfFiles(
  io: CommandIo,
  {
    files,
    exposures,
  }: { readonly files: readonly string[]; readonly exposures: readonly NamedExposure[] },
  flags: Omit<DnsFlags, 'filename'>,
): Promise<DnsSource | undefined> {
  const { objects } = (await validObjects(io, { files }, flags.namespace)) ?? {};
  if (objects === undefined) return undefined;
  const { management, requested, unresolved } = filesManagement(objects);
  const named = exposures.length === 0 ? [undefined] : exposures;
  const chosen = selectedInFiles(
    [...management.exposures, ...unresolved],
    named.map((exposure) => selectionIn({ files, exposure }, flags)),
    { ...FILES_LOCATION, hasFaults: false },
  );
  const keys = chosen.map(({ metadata }) => keyText(metadata));
  for (const key of keys) {
    const sentence = requested.sentences.get(key);
    if (sentence !== undefined) printMessage(io, `note: ${sentence}`);
  }
  const findings = keys.flatMap((key) =>
    (requested.findings.get(key) ?? []).map((finding) => ({ ...finding, of: key })),
  );
  return {
    management,
    chosen: chosen.filter((object) => !unresolved.includes(object)),
    findings: findings.filter(({ severity }) => severity === 'error'),
  };
}
