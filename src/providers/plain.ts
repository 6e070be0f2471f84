/**
 * The plain provider: a kube-apiserver behind a Service or at fixed addresses. The user specifies everything else.
 */
import type { Exposure } from '../api/exposure.ts';
import type { ObjectKey } from '../kube/object.ts';
import type { ControlPlane } from '../plan/control-plane.ts';
import type { Finding } from '../api/finding.ts';
import type { FindingCode } from '../api/finding-codes/catalog.ts';
import { fixedService } from '../plan/fixed-service.ts';
import { caMismatch } from './reading/ca-mismatch.ts';
import type {
  ControlPlaneObjects,
  ControlPlaneReading,
  Service,
} from './reading/control-plane-reading.ts';
import { readAuthority, readText, type SecretRemedy } from './reading/secret-reading.ts';
import { serviceAddresses, tcpPorts } from './reading/service-reading.ts';

export type { Secret, Service } from './reading/control-plane-reading.ts';

const REMEDY: SecretRemedy = {
  secret: 'Create it, or correct its name in spec.controlPlane.',
  entry: 'Add the entry, or correct its name in spec.controlPlane.',
};

/** Reads the control plane that the Exposure references by Service or by endpoints. */
export async function readPlain(
  { metadata, spec }: Exposure,
  objects: ControlPlaneObjects,
): Promise<ControlPlaneReading> {
  const { namespace } = metadata;
  const { controlPlane } = spec;
  const findings: Finding[] = [];
  const note = (finding: Finding | undefined) => {
    if (finding !== undefined) findings.push(finding);
  };
  const { service, endpoints, caSecretRef, kubeconfigSecretRef } = controlPlane;
  const at = (name: string): ObjectKey => ({ name, namespace });

  let found: Pick<ControlPlane, 'service'> | undefined;
  let addresses: readonly string[] = [];
  if (service !== undefined) {
    const live = objects.service(at(service.name));
    const reading = portsOf(live, service.name, service, metadata.namespace ?? '');
    note(reading.finding);
    if (reading.service !== undefined) found = { service: reading.service };
    if (live !== undefined && reading.service !== undefined) {
      addresses = serviceAddresses(live, service.apiPort);
    }
  } else if (endpoints !== undefined) {
    found = { service: fixedService(metadata.name, endpoints) };
    addresses = endpoints.api;
  }

  const ca =
    caSecretRef && (await readAuthority(at(caSecretRef.name), caSecretRef, objects, REMEDY));
  note(ca?.finding);
  const kubeconfig =
    kubeconfigSecretRef &&
    (await readText(at(kubeconfigSecretRef.name), kubeconfigSecretRef.key, objects, REMEDY));
  note(kubeconfig?.finding);
  const mismatch =
    caSecretRef && kubeconfigSecretRef && ca?.value && kubeconfig?.value
      ? caMismatch(
          { key: at(caSecretRef.name), text: ca.value.certificate },
          { key: at(kubeconfigSecretRef.name), text: kubeconfig.value },
        )
      : undefined;
  note(mismatch);
  return {
    controlPlane: found && { ...found, ca: mismatch === undefined ? ca?.value : undefined },
    kubeconfig: kubeconfig?.value,
    addresses,
    findings,
  };
}

function portsOf(
  live: Service | undefined,
  name: string,
  spec: { readonly apiPort: number; readonly konnectivityPort?: number | undefined },
  namespace: string,
): { readonly service?: ControlPlane['service']; readonly finding?: Finding } {
  if (live === undefined) {
    return {
      finding: missing(
        'ServiceMissing',
        `Service ${namespace}/${name} does not exist.`,
        "Create it, or correct spec.controlPlane.service.name. The Exposure must be in the Service's namespace.",
      ),
    };
  }
  const ports = tcpPorts(live);
  const named = (wanted: number) => ports.find(({ port }) => port === wanted);
  const api = named(spec.apiPort);
  const konnectivity =
    spec.konnectivityPort === undefined ? undefined : named(spec.konnectivityPort);
  const present = ports.map(({ port }) => port).join(', ') || 'none';
  const lacks = (port: number, field: string) =>
    missing(
      'ServiceInvalid',
      `Service ${namespace}/${name} has no port ${port} (it has ${present}).`,
      `Add the port, or correct spec.controlPlane.service.${field}.`,
    );
  if (api === undefined) return { finding: lacks(spec.apiPort, 'apiPort') };
  const service = { name, api, konnectivity };
  if (spec.konnectivityPort !== undefined && konnectivity === undefined) {
    return { service, finding: lacks(spec.konnectivityPort, 'konnectivityPort') };
  }
  return { service };
}

function missing(code: FindingCode, message: string, action: string): Finding {
  return { code, severity: 'error', message, action };
}
