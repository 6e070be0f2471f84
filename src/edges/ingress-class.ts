/**
 * Whether the class of an Ingress exists, and belongs to the controller of the driver. The name of the class does not
 * show that: both controllers for HAProxy often use `haproxy`.
 */
import type { Finding } from '../api/finding.ts';
import type { Driver, Edge } from '../api/edge.ts';
import type { KubeObject } from '../kube/object.ts';
import { error, warning } from './codes.ts';
import type { EdgeContext } from './driver.ts';
import { textAt } from '../kube/unstructured.ts';

/** `spec.controller` of an IngressClass, and its driver. A controller may append a suffix after a slash. */
const CONTROLLERS: readonly (readonly [controller: string, driver: Driver])[] = [
  ['haproxy.org/ingress-controller', 'haproxy'],
  ['haproxy-ingress.github.io/controller', 'haproxy-ingress'],
  ['k8s.io/ingress-nginx', 'nginx'],
  ['nginx.org/ingress-controller', 'nginx-inc'],
  ['traefik.io/ingress-controller', 'traefik'],
];

const IS_DEFAULT = 'ingressclass.kubernetes.io/is-default-class';

/** Reports whether two versions of an IngressClass are the same for Snicket: only spec and default annotation count. */
export function isSameIngressClass(a: IngressClass, b: IngressClass): boolean {
  const isDefault = ({ metadata }: IngressClass) => metadata.annotations?.[IS_DEFAULT];
  return Bun.deepEquals(a.spec, b.spec) && isDefault(a) === isDefault(b);
}

interface IngressClass extends KubeObject {
  readonly spec?: unknown;
}

/** Returns the driver of a known controller. */
function driverOf(controller: string): Driver | undefined {
  const found = CONTROLLERS.find(
    ([known]) => controller === known || controller.startsWith(`${known}/`),
  );
  return found?.[1];
}

/** Returns what is wrong with the class of an Edge's objects, whether the Edge names it or the API server sets it. */
export function ingressClassFindings({
  edge,
  ingressClasses,
}: Pick<EdgeContext, 'edge' | 'ingressClasses'>): readonly Finding[] {
  const { driver, ingress } = edge.spec;
  const named = ingress?.className;
  const found =
    named === undefined
      ? defaultClass(ingressClasses)
      : ingressClasses.find(({ metadata }) => metadata.name === named);
  if (found === undefined) return [classMissing(edge, ingressClasses)];
  const controller = textAt(found, 'spec', 'controller') ?? '';
  const actualDriver = driverOf(controller);
  // Driver ingress works with any controller, except where a plain Ingress cannot pass TLS through.
  const suits = driver === 'ingress' ? actualDriver !== 'traefik' : actualDriver === driver;
  return suits ? [] : [classMismatch(edge, found.metadata.name, controller, actualDriver)];
}

/** Selects the class as the API server does: the newest, then the first by name. */
function defaultClass(classes: readonly KubeObject[]): KubeObject | undefined {
  const created = ({ metadata }: KubeObject) => metadata.creationTimestamp ?? '';
  return classes
    .filter(({ metadata }) => metadata.annotations?.[IS_DEFAULT] === 'true')
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .toSorted((a, b) => (created(a) > created(b) ? -1 : Number(created(a) < created(b))))[0];
}

function classMissing(edge: Edge, classes: readonly KubeObject[]): Finding {
  const { driver, ingress } = edge.spec;
  const suitable = classes
    .filter((candidate) => driverOf(textAt(candidate, 'spec', 'controller') ?? '') === driver)
    .map(({ metadata }) => metadata.name);
  const message =
    ingress?.className === undefined
      ? `Edge ${edge.metadata.name} names no ingress class, and the cluster has no default ingress class.`
      : `IngressClass ${ingress.className}, which Edge ${edge.metadata.name} names, does not exist.`;
  const action =
    suitable.length > 0
      ? `Set spec.ingress.className to a class of its controller: ${suitable.join(', ')}.`
      : 'Install the controller with its IngressClass, and set spec.ingress.className to that class.';
  return error('EdgeReferenceInvalid', message, action);
}

function classMismatch(
  edge: Edge,
  name: string,
  controller: string,
  actualDriver: Driver | undefined,
): Finding {
  const { driver } = edge.spec;
  const message = `IngressClass ${name} belongs to ${controller || 'no controller'}, which driver ${driver} does not support.`;
  return actualDriver === undefined
    ? // A flag of the controller can change its name.
      warning('EdgeReferenceInvalid', message, 'Check that it is the right controller.')
    : error(
        'EdgeReferenceInvalid',
        message,
        `Set spec.driver of Edge ${edge.metadata.name} to ${actualDriver}, or choose the class of another controller.`,
      );
}
