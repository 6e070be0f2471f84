/**
 * The situation for a log: a line for each thing that is not as it was.
 */
import type { Standing } from './standing.ts';
import type { Situation } from './situation.ts';

/** Remembers what was told. */
export class ChangeLines {
  #told: ReadonlyMap<string, string> = new Map();

  /** The lines that are new, and those of what is gone. */
  next(situation: Situation, trouble?: string): readonly string[] {
    const now = new Map(claimsOf(situation, trouble));
    const changed = [...now].filter(([name, claim]) => this.#told.get(name) !== claim);
    const gone = [...this.#told.keys()].filter((name) => !now.has(name));
    this.#told = now;
    return [
      ...changed.map(([name, claim]) => `${name}: ${claim}`),
      ...gone.map((name) => (name === TROUBLE ? 'it answers again' : `${name}: gone`)),
    ];
  }
}

const TROUBLE = 'what is shown may be old';

function claimsOf(
  { edges = [], exposures, operator, faults }: Situation,
  trouble: string | undefined,
): readonly (readonly [string, string])[] {
  return [
    ...(trouble === undefined ? [] : [[TROUBLE, oneLine(trouble)] as const]),
    ...(operator === undefined
      ? []
      : [['Operator', oneLine(`${operator.state}: ${operator.message}`)] as const]),
    ...(faults === undefined
      ? []
      : [['Folder', oneLine(faults.join('; ') || 'nothing is wrong in it')] as const]),
    ...edges.map((edge) => [`Edge ${edge.name}`, standingText(edge)] as const),
    ...exposures.map(
      (exposure) =>
        [
          `Exposure ${exposure.key}`,
          `${standingText(exposure)}${exposure.proxies === undefined ? '' : ` (proxies ${exposure.proxies})`}`,
        ] as const,
    ),
  ];
}

function standingText({ ready, reason, message }: Standing): string {
  return ready === 'True' ? 'Ready=True' : oneLine(`Ready=${ready}: ${reason}: ${message}`);
}

/** Messages quote what others said. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ');
}
