/**
 * The status for a log: a line for each change.
 */
import type { Condition } from '../../kube/object.ts';
import type { OperatorState } from './operator-state.ts';
import type { Summary } from './summary.ts';
import { brokenPath, operatorName, terminating, type StatusView } from './status-view.ts';

/** Remembers what was reported. */
export class ChangeLines {
  #reported: ReadonlyMap<string, string> = new Map();

  /** Returns the lines for what has changed, and for what is deleted. */
  next(view: StatusView, staleReason?: string): readonly string[] {
    const now = new Map(statesOf(view, staleReason));
    const changed = [...now].filter(([name, state]) => this.#reported.get(name) !== state);
    const deleted = [...this.#reported.keys()].filter((name) => !now.has(name));
    this.#reported = now;
    return [
      ...changed.map(([name, state]) => `${name}: ${state}`),
      ...deleted.map((name) => (name === STALE ? 'Status current again' : `${name}: deleted`)),
    ];
  }
}

const STALE = 'Status outdated';

function statesOf(
  view: StatusView,
  staleReason: string | undefined,
): readonly (readonly [string, string])[] {
  const { edges = [], exposures, operator, faults } = view;
  return [
    ...(staleReason === undefined ? [] : [[STALE, oneLine(staleReason)] as const]),
    ...(operator === undefined
      ? []
      : [[operatorName(view), oneLine(operatorText(operator, faults))] as const]),
    ...(faults === undefined
      ? []
      : [['Folder', oneLine(faults.join('; ') || 'no errors')] as const]),
    ...edges.map(
      (edge) =>
        [`Edge ${edge.name}`, `${summaryText(edge)}${falseText(terminating(edge))}`] as const,
    ),
    ...exposures.map(
      (exposure) =>
        [
          `Exposure ${exposure.key}`,
          `${summaryText(exposure)}${falseText(brokenPath(exposure))}${exposure.proxies === undefined ? '' : ` (proxies ${exposure.proxies})`}`,
        ] as const,
    ),
  ];
}

/** Returns the state of the operator. For a folder, the message includes the state. */
function operatorText({ state, message }: OperatorState, faults: StatusView['faults']): string {
  return faults === undefined ? `${state}: ${message}` : message;
}

function summaryText({ ready, reason, message }: Summary): string {
  return ready === 'True' ? 'Ready=True' : oneLine(`Ready=${ready}: ${reason}: ${message}`);
}

/** Returns the text of a condition that is False although Ready is True; empty if there is none. */
function falseText(condition: Condition | undefined): string {
  if (condition === undefined) return '';
  return oneLine(`, ${condition.type}=False: ${condition.reason}: ${condition.message}`);
}

/** Messages quote other programs, which may use line breaks and control characters. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ');
}
