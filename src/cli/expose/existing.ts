/**
 * Shows an Exposure that already exists and compares it. Never overwrites it.
 */
import { InvalidObjectError } from '../../api/fault.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { RECORD_ANNOTATION } from '../../providers/preparation/record.ts';
import { nameText, valueText, type Output } from '../output/output.ts';
import { EXIT, printMessage } from '../output/messages.ts';
import { differences } from './draft.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Shows the existing Exposure and how it differs from the desired one. Returns whether they match. */
export function reportExisting(
  io: CommandIo,
  existing: KubeObject,
  wanted: KubeObject,
  { output, dryRun }: { readonly output: Output | 'name'; readonly dryRun: boolean },
): boolean {
  const shown = dryRun ? wanted : withoutRecord(existing);
  io.stdout.write(existingText(shown, output));
  const key = keyText(existing.metadata);
  const { name, namespace } = existing.metadata;
  try {
    const found = differences(existing, wanted);
    if (found.length === 0) {
      printMessage(io, `exposure.snicket.dev/${name} unchanged`);
      return true;
    }
    printMessage(io, `error: Exposure ${key} already exists and differs:`);
    for (const { path, present = 'not set', wanted: to = 'not set' } of found) {
      printMessage(io, `  ${path}: ${present} -> ${to}`);
    }
    printMessage(io, `hint: edit it: kubectl -n ${namespace} edit exposure ${name}`);
  } catch (error) {
    if (!(error instanceof InvalidObjectError)) throw error;
    printMessage(
      io,
      `error: Exposure ${key} already exists and cannot be compared: ${error.message}`,
    );
  }
  io.exitCode = EXIT.wrong;
  return false;
}

function existingText(shown: KubeObject, output: Output | 'name'): string {
  switch (output) {
    case 'table':
      return valueText(asWritten(shown), 'yaml');
    case 'name':
      return nameText('exposure', shown.metadata.name);
    case 'json':
    case 'yaml':
      return valueText(shown, output);
  }
}

/** Returns the object without the operator's record, a single line of several kilobytes. */
function withoutRecord(object: KubeObject): KubeObject {
  const { [RECORD_ANNOTATION]: _, ...others } = object.metadata.annotations ?? {};
  const annotations = Object.keys(others).length === 0 ? undefined : others;
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Returns the object without the fields that the API server and the operator set. */
function asWritten(object: KubeObject): object {
  const { apiVersion, kind, metadata, spec } = object as KubeObject & { readonly spec?: unknown };
  const { name, namespace, labels, annotations } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, labels, annotations }, spec };
}
