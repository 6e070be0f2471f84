/**
 * Which Exposures are meant, among those that there are; what is asked for and is not there is said with what is.
 */
import { keyText, type KubeObject } from '../../kube/object.ts';
import { isChosen, type Choice } from '../flags/management-flags.ts';

/** That what was asked for is not there; the message says what is. */
export class NothingChosen extends Error {
  override readonly name = 'NothingChosen';
}

/** The Exposures that are meant, by their names. @throws NothingChosen if one is meant that is not there */
export function chosenOf(exposures: readonly KubeObject[], choice: Choice): readonly KubeObject[] {
  const chosen = allOf(exposures, choice);
  if (chosen.length > 0 || choice.name === undefined) return chosen;
  throw nothingChosen(choice, exposures);
}

/** The same where a namespace with nothing in it is a mistake too, if there is something elsewhere. @throws NothingChosen */
export function someOf(exposures: readonly KubeObject[], choice: Choice): readonly KubeObject[] {
  const chosen = allOf(exposures, choice);
  const isEmpty = exposures.length === 0 && choice.name === undefined;
  if (chosen.length > 0 || isEmpty || choice.namespace === undefined) return chosen;
  throw nothingChosen(choice, exposures);
}

/** Where Exposures were read that are in no cluster. */
export interface FilesPlace {
  /** `the folder tenants.d`. */
  readonly place: string;
  /** What to do if there is none. */
  readonly action: string;
  /** Whether something in there is wrong, which has been told: there may be Exposures in that. */
  readonly hasFaults: boolean;
}

/** The same in files: whoever names them means what is in there, so that nothing is a mistake. @throws NothingChosen */
export function someInFiles(
  exposures: readonly KubeObject[],
  choices: readonly Choice[],
  { place, action, hasFaults }: FilesPlace,
): readonly KubeObject[] {
  if (exposures.length === 0) {
    throw new NothingChosen(
      hasFaults
        ? 'no Exposure can be looked at before that is corrected'
        : `there is no Exposure in ${place}; ${action}`,
    );
  }
  const among = hasFaults ? ' in the files that are right' : '';
  return [
    ...new Set(
      choices.flatMap((choice) => {
        const chosen = allOf(exposures, choice);
        if (chosen.length === 0) throw nothingChosen(choice, exposures, among);
        return chosen;
      }),
    ),
  ];
}

/** That there is no Exposure where nobody has named one, and how to see more if there may be more. */
export function noExposureText([{ namespace } = {}]: readonly Choice[]): string {
  return `there is no Exposure${namespace === undefined ? '' : ` in ${namespace}; -A means all`}`;
}

function allOf(exposures: readonly KubeObject[], choice: Choice): readonly KubeObject[] {
  return exposures
    .filter(({ metadata }) => isChosen(choice, metadata))
    .toSorted((a, b) => (keyText(a.metadata) < keyText(b.metadata) ? -1 : 1));
}

/** How many names are said of those that are there. */
const MOST_NAMES = 20;

function nothingChosen(
  { namespace, name }: Choice,
  exposures: readonly KubeObject[],
  among = '',
): NothingChosen {
  const what = name === undefined ? `in namespace ${namespace}` : `${namespace}/${name}`;
  const names = exposures.map(({ metadata }) => keyText(metadata)).toSorted();
  const more = names.length > MOST_NAMES ? ', ...' : '';
  const there =
    names.length === 0
      ? 'there is none at all'
      : `there ${names.length === 1 ? 'is' : 'are'} ${names.slice(0, MOST_NAMES).join(', ')}${more}`;
  return new NothingChosen(`there is no Exposure ${what}${among}; ${there}`);
}
