/**
 * The parts that both texts of `snicket status` share, and their order.
 */
import type { Condition } from '../../kube/object.ts';
import {
  stateCell,
  wrappedText,
  type Cell,
  type Screen,
  type StateKind,
} from '../output/output.ts';
import type { Problem } from './problems.ts';
import { operatorName, type StatusView } from './status-view.ts';

/** Options of the texts. */
export interface StatusTextOptions {
  readonly screen: Screen;
  readonly now: Date;
  /** Whether names of Exposures are shown with their namespaces. */
  readonly hasNamespaces: boolean;
  /** Whether all columns are shown, however wide the screen is. Default false. */
  readonly isWide?: boolean | undefined;
  /**
   * The rows of a screen that is redrawn. Problems come first, and if not everything fits, what is healthy is
   * shortened. Default: a text of any length, which users read from its end.
   */
  readonly rows?: number | undefined;
}

/** The parts of a text. */
interface StatusParts {
  /** Problems, and what to do. */
  readonly wrong: readonly string[];
  readonly rest: readonly string[];
}

/** Returns the whole text if it fits, or else the text with `isShort`. */
export function arranged(
  partsOf: (isShort: boolean) => StatusParts,
  view: StatusView,
  { screen, rows }: StatusTextOptions,
): string {
  const operator = operatorTexts(view, screen);
  const text = (isShort: boolean) => {
    const { wrong, rest } = partsOf(isShort);
    const problems = [...wrong, ...faultTexts(view, screen, isShort)];
    if (rows === undefined) return [...rest, ...problems, ...operator].join('\n');
    return view.operator?.state === 'running'
      ? [...problems, ...rest, ...operator].join('\n')
      : [...operator, ...problems, ...rest].join('\n');
  };
  const whole = text(false);
  const isFitting = rows === undefined || whole.trimEnd().split('\n').length <= rows;
  return isFitting ? whole : text(true);
}

const MAX_FAULTS = { whole: 20, short: 3 };

/** Returns the errors in the folder. Beyond a maximum, only their number. */
function faultTexts(
  { faults = [] }: StatusView,
  screen: Screen,
  isShort: boolean,
): readonly string[] {
  if (faults.length === 0) return [];
  const most = isShort ? MAX_FAULTS.short : MAX_FAULTS.whole;
  const more = faults.length - most;
  const lines = [
    'Errors in the folder:',
    ...faults.slice(0, most).map((text) => `  ${wrappedText({ text, color: 'red' }, 2, screen)}`),
    ...(more > 0 ? [`  ... and ${more} more`] : []),
  ];
  return [`${lines.join('\n')}\n`];
}

function operatorTexts(view: StatusView, screen: Screen): readonly string[] {
  const { operator } = view;
  if (operator === undefined) return [];
  const { state, message, action } = operator;
  const color = ({ running: 'green', down: 'red', unknown: 'yellow' } as const)[state];
  const name = `${operatorName(view)}: `;
  const text = `${message}${action === undefined ? '' : `; ${action}`}`;
  return [`${name}${wrappedText({ text, color }, name.length, screen)}\n`];
}

const READY_KINDS: Readonly<Record<Condition['status'], StateKind>> = {
  True: 'pass',
  False: 'fail',
  Unknown: 'warn',
};

/** Returns the status of a condition with its mark and color. */
export function readyCell(ready: Condition['status']): Cell {
  return stateCell(ready, READY_KINDS[ready]);
}

/** Returns the text of a problem. */
export function problemText(problem: Problem, screen: Screen): string {
  const { message, action } = problem;
  const lines = [
    headText(problem, screen),
    `  ${wrappedText(message, 2, screen)}`,
    ...(action === undefined ? [] : [`  ${wrappedText(`To do: ${action}`, 2, screen)}`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns the first line of a problem. */
export function headText({ isWarning, about, code }: Problem, screen: Screen): string {
  const color = isWarning ? 'yellow' : 'red';
  return wrappedText({ text: `${code} (${about.join(', ')})`, color }, 0, screen);
}
