/**
 * Ingress classes that no controller handles, for providers that always create an Ingress for the hosts. Only the
 * routes of the Edge must be served.
 */
import type { PreparationSpec } from './preparation.ts';

/** The class that Snicket writes. No controller handles it. */
export const UNHANDLED_CLASS = 'snicket-unhandled';

/** Controllers that match `ingressClassName` with a flag handle these without an IngressClass object. */
const MATCHED_BY_NAME: ReadonlySet<string> = new Set([
  'contour',
  'haproxy',
  'kong',
  'nginx',
  'traefik',
]);

/** Reports whether no controller handles an Ingress of this class. Without a class, a default class may apply. */
export function isUnhandledClass(
  className: unknown,
  { handledClasses }: Pick<PreparationSpec, 'handledClasses'>,
): boolean {
  if (className === UNHANDLED_CLASS) return true;
  if (typeof className !== 'string' || className === '' || handledClasses === undefined) {
    return false;
  }
  return !handledClasses.has(className) && !MATCHED_BY_NAME.has(className);
}
