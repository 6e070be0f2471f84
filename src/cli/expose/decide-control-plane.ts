/**
 * Decides which control plane to expose: the control plane that the user names, or one that the cluster search finds.
 */
import { keyText } from '../../kube/object.ts';
import type { Service } from '../../providers/reading/control-plane-reading.ts';
import { withProgress, type ProgressIo } from '../output/progress.ts';
import { CommandError } from '../output/messages.ts';
import {
  controlPlanesIn,
  controlPlaneText,
  isKnownKind,
  KNOWN_KINDS,
  controlPlanesMatching,
  serviceNames,
  type ControlPlaneSource,
  type FoundControlPlane,
  type NamedControlPlane,
} from './control-planes.ts';
import type { SecretsSource } from './decide-secrets.ts';
import { likelyKubeconfigs } from './tenant-secrets.ts';
import type { Question, Questions } from './questions.ts';

/** Options that select the control plane. */
export interface RequestedControlPlane {
  readonly controlPlane?: NamedControlPlane | undefined;
  /** The value of -n. Undefined without the flag. */
  readonly namespace?: string | undefined;
  /** The namespace of the context, which applies to a named control plane by default. */
  readonly defaultNamespace: string;
}

/**
 * Returns the control plane, or undefined if there is only one and the user declines it.
 *
 * @throws CommandError, KubeError
 */
export async function decideControlPlane(
  { controlPlane: named, namespace, defaultNamespace }: RequestedControlPlane,
  {
    io,
    management,
    secrets,
    questions,
  }: {
    readonly io: ProgressIo;
    readonly management: ControlPlaneSource;
    readonly secrets: SecretsSource;
    readonly questions: Questions;
  },
): Promise<FoundControlPlane | undefined> {
  const all = controlPlanesIn(management);
  const question: Question = {
    question: 'Which control plane?',
    flag: 'KIND/NAME',
    value: 'the control plane, with -n for its namespace',
  };
  if (named !== undefined) {
    if (named.kind !== undefined && !isKnownKind(named.kind)) throw unknownKind(named.kind);
    const searched = namespace ?? defaultNamespace;
    const matching = controlPlanesMatching(named, all);
    const inNamespace = matching.filter(({ object }) => object.metadata.namespace === searched);
    const [first] = inNamespace;
    if (first === undefined) throw controlPlaneNotFound(named, searched, { matching, all });
    return inNamespace.length === 1 ? first : questions.choose(question, inNamespace.map(asChoice));
  }
  const candidates = all.filter(
    ({ object, isObvious, exposedBy }) =>
      isObvious &&
      exposedBy === undefined &&
      (namespace === undefined || object.metadata.namespace === namespace),
  );
  const searching = withKubeconfigs(candidates, management, secrets);
  const likely = await withProgress(io, 'searching kubeconfigs of Services', searching);
  const [only] = likely;
  if (only !== undefined && likely.length === 1) {
    const text = controlPlaneText(only);
    const confirmation: Question = {
      question: `Expose ${text}, the only one without an Exposure?`,
      flag: question.flag,
      value: `the control plane: ${text} is the only one without an Exposure`,
    };
    return (await questions.confirm(confirmation, true)) ? only : undefined;
  }
  if (likely.length > 0) return questions.choose(question, likely.map(asChoice));
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  throw new CommandError(
    `no control planes without an Exposure${where}`,
    'pass a Service as service/NAME, or addresses with --endpoints',
  );
}

/** Returns the control planes without the Services that have no matching kubeconfig Secret. */
async function withKubeconfigs(
  all: readonly FoundControlPlane[],
  source: ControlPlaneSource,
  secrets: SecretsSource,
): Promise<readonly FoundControlPlane[]> {
  const likely: FoundControlPlane[] = [];
  for (const found of all) {
    if (!found.isService || (await hasKubeconfig(found.object, source, secrets)))
      likely.push(found);
  }
  return likely;
}

/** Reports whether a Service has a matching kubeconfig Secret; true if the user may not list Secrets. */
async function hasKubeconfig(
  { metadata: { name, namespace = '' } }: Service,
  source: ControlPlaneSource,
  secrets: SecretsSource,
): Promise<boolean> {
  const listed = await secrets.list(namespace);
  if (listed === undefined) return true;
  return likelyKubeconfigs(listed, name, serviceNames(source, namespace)).all.length > 0;
}

function asChoice(found: FoundControlPlane) {
  return { text: controlPlaneText(found), value: found };
}

function unknownKind(kind: string): CommandError {
  return new CommandError(
    `unknown kind of control plane: ${kind}`,
    `use one of ${KNOWN_KINDS.join(', ')}; if ${kind} is a namespace, pass it as -n ${kind}`,
  );
}

function controlPlaneNotFound(
  { kind, name }: NamedControlPlane,
  namespace: string,
  {
    matching,
    all,
  }: {
    readonly matching: readonly FoundControlPlane[];
    readonly all: readonly FoundControlPlane[];
  },
): CommandError {
  const key = keyText({ name, namespace });
  const namespaceFlags = matching.map(({ object }) => `-n ${object.metadata.namespace}`);
  const service = all.find(
    ({ object, isService }) => isService && keyText(object.metadata) === key,
  );
  const hint =
    kind === undefined && service !== undefined
      ? `if Service ${key} is a control plane, pass service/${name}`
      : namespaceFlags.length > 0
        ? `found in another namespace: ${namespaceFlags.join(', ')}`
        : `pass KIND/NAME; kinds: ${KNOWN_KINDS.join(', ')}`;
  return new CommandError(
    `${kind === undefined ? 'control plane' : kind} not found: ${key}`,
    `${hint}`,
  );
}
