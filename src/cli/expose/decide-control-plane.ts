/**
 * Which control plane is meant: the one that is named, or one of those that can be seen.
 */
import { keyText } from '../../kube/object.ts';
import type { Service } from '../../providers/control-plane-reading.ts';
import { withProgress } from '../progress.ts';
import { CannotExpose } from './cannot-expose.ts';
import {
  controlPlanesIn,
  controlPlaneText,
  isNamed,
  serviceNames,
  type ControlPlanePlaces,
  type FoundControlPlane,
  type NamedControlPlane,
} from './control-planes.ts';
import type { SecretsSource } from './decide-secrets.ts';
import type { Questions } from './questions.ts';

/** What somebody says of it. */
export interface ControlPlaneWishes {
  readonly controlPlane?: NamedControlPlane | undefined;
  /** Absent: not said. */
  readonly namespace?: string | undefined;
  /** That of the context, which is meant where something is named and nothing else is said. */
  readonly usualNamespace: string;
}

/** The one that is meant. @throws CannotExpose, AnswerMissing, KubeError */
export async function decideControlPlane(
  { controlPlane: named, namespace, usualNamespace }: ControlPlaneWishes,
  {
    management,
    secrets,
    questions,
  }: {
    readonly management: ControlPlanePlaces;
    readonly secrets: SecretsSource;
    readonly questions: Questions;
  },
): Promise<FoundControlPlane> {
  const all = controlPlanesIn(management);
  const question = { question: 'Which control plane?', flag: 'its KIND/NAME and -n NAMESPACE' };
  if (named !== undefined) {
    const place = namespace ?? usualNamespace;
    const meant = all.filter((one) => isNamed(named, one));
    const here = meant.filter(({ object }) => object.metadata.namespace === place);
    const [only] = here;
    if (only === undefined) throw notThere(named, place, meant);
    return here.length === 1 ? only : questions.choose(question, here.map(asChoice));
  }
  const near = all.filter(
    ({ object, isObvious, exposedBy }) =>
      isObvious &&
      exposedBy === undefined &&
      (namespace === undefined || object.metadata.namespace === namespace),
  );
  const looking = withKubeconfigs(near, management, secrets);
  const likely = await withProgress('looking for kubeconfigs beside Services', looking);
  if (likely.length > 0) return questions.choose(question, likely.map(asChoice));
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  throw new CannotExpose(
    `there is no control plane${where} that has no Exposure yet; name a Service with service/NAME, or addresses with --endpoints`,
  );
}

/** Without the Services that have no kubeconfig beside them. */
async function withKubeconfigs(
  all: readonly FoundControlPlane[],
  places: ControlPlanePlaces,
  secrets: SecretsSource,
): Promise<readonly FoundControlPlane[]> {
  const likely: FoundControlPlane[] = [];
  for (const one of all) {
    if (!one.isService || (await hasKubeconfig(one.object, places, secrets))) likely.push(one);
  }
  return likely;
}

/** Whether there is a kubeconfig beside a Service, as far as that may be seen. */
async function hasKubeconfig(
  { metadata: { name, namespace = '' } }: Service,
  places: ControlPlanePlaces,
  secrets: SecretsSource,
): Promise<boolean> {
  const listed = await secrets.list(namespace);
  if (listed === undefined) return true;
  return listed.kubeconfigs(name, serviceNames(places, namespace)).all.length > 0;
}

function asChoice(found: FoundControlPlane) {
  return { text: controlPlaneText(found), value: found };
}

function notThere(
  { kind, name }: NamedControlPlane,
  namespace: string,
  elsewhere: readonly FoundControlPlane[],
): CannotExpose {
  const places = elsewhere.map(({ object }) => `-n ${object.metadata.namespace}`);
  const wayOut =
    places.length > 0
      ? `there is one elsewhere: ${places.join(', ')}`
      : 'name a TenantControlPlane, Cluster, K0smotronControlPlane, ClusterDeployment or Service as KIND/NAME';
  return new CannotExpose(
    `there is no ${kind === undefined ? 'control plane' : kind} ${keyText({ name, namespace })}; ${wayOut}`,
  );
}
