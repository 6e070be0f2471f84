/**
 * Chooses Exposures among those that exist. If there is no match, the error lists those that exist.
 */
import { keyText, type KubeObject } from '../../kube/object.ts';
import { CommandError } from '../output/messages.ts';
import { isSelected, type Choice } from '../flags/management-flags.ts';

/** Returns the chosen Exposures, by name. @throws CommandError if a named Exposure does not exist */
export function selectedOf(
  exposures: readonly KubeObject[],
  choice: Choice,
): readonly KubeObject[] {
  const chosen = allOf(exposures, choice);
  if (chosen.length > 0 || choice.name === undefined) return chosen;
  throw noExposuresError(choice, exposures);
}

/**
 * Returns the chosen Exposures. A namespace without any is an error too, if other namespaces have some.
 *
 * @throws CommandError
 */
export function selectedOrFail(
  exposures: readonly KubeObject[],
  choice: Choice,
): readonly KubeObject[] {
  const chosen = allOf(exposures, choice);
  const isEmpty = exposures.length === 0 && choice.name === undefined;
  if (chosen.length > 0 || isEmpty || choice.namespace === undefined) return chosen;
  throw noExposuresError(choice, exposures);
}

/** Where Exposures were read from that are in no cluster. */
export interface FilesLocation {
  /** Such as `the folder tenants.d`. */
  readonly place: string;
  /** What to do if there is no Exposure. */
  readonly action: string;
  /** Whether some files are invalid, which has been reported. They may contain Exposures. */
  readonly hasFaults: boolean;
}

/**
 * Returns the chosen Exposures in files. It is always an error if there are none, because the user named the files.
 *
 * @throws CommandError
 */
export function selectedInFiles(
  exposures: readonly KubeObject[],
  choices: readonly Choice[],
  { place, action, hasFaults }: FilesLocation,
): readonly KubeObject[] {
  if (exposures.length === 0) {
    throw hasFaults
      ? new CommandError('no Exposures in the valid files', 'correct the errors above')
      : new CommandError(`no Exposures in ${place}`, action);
  }
  const among = hasFaults ? ' in the valid files' : '';
  return [
    ...new Set(
      choices.flatMap((choice) => {
        const chosen = allOf(exposures, choice);
        if (chosen.length === 0) throw noExposuresError(choice, exposures, among);
        return chosen;
      }),
    ),
  ];
}

/** Returns the message that there is no Exposure, and how to see those of other namespaces. */
export function noExposureText([{ namespace } = {}]: readonly Choice[]): string {
  return namespace === undefined
    ? 'No Exposures found.'
    : `No Exposures found in namespace ${namespace}; to include all namespaces: -A`;
}

function allOf(exposures: readonly KubeObject[], choice: Choice): readonly KubeObject[] {
  return exposures
    .filter(({ metadata }) => isSelected(choice, metadata))
    .toSorted((a, b) => (keyText(a.metadata) < keyText(b.metadata) ? -1 : 1));
}

/** Maximum number of existing names in a message. */
const MAX_NAMES = 20;

function noExposuresError(
  { namespace, name }: Choice,
  exposures: readonly KubeObject[],
  among = '',
): CommandError {
  const what =
    name === undefined
      ? `no Exposures in namespace ${namespace}${among}`
      : `Exposure not found${among}: ${namespace}/${name}`;
  const names = exposures.map(({ metadata }) => keyText(metadata)).toSorted();
  const more = names.length > MAX_NAMES ? ', ...' : '';
  const existing = names.length === 0 ? 'none' : `${names.slice(0, MAX_NAMES).join(', ')}${more}`;
  return new CommandError(what, `existing Exposures: ${existing}`);
}
