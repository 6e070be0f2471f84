/**
 * For tests only: an Edge and Exposures as users write them into files, and objects in printed YAML.
 */
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../kube/object.ts';
import { Terminal } from './snicket.ts';

/** Edge `shared`, of HAProxy. */
export const EDGE = `apiVersion: snicket.dev/v1alpha1
kind: Edge
metadata: {name: shared}
spec: {driver: haproxy, domain: example.com, addresses: [203.0.113.10]}
`;

/** Returns an Exposure of that Edge, with `more` lines at the end of its spec. */
export function exposureOf(name: string, more = ''): string {
  return `apiVersion: snicket.dev/v1alpha1
kind: Exposure
metadata: {name: ${name}, namespace: tenants}
spec:
  edgeRef: {name: shared}
  controlPlane:
    type: Service
    service: {name: ${name}, konnectivityPort: 8132}
    caSecretRef: {name: ${name}-ca}
    kubeconfigSecretRef: {name: ${name}-kubeconfig}
${more}`;
}

/** Returns a terminal in a folder with the files `edge.yaml` and `blue.yaml`. */
export function terminalWithFiles(): Terminal {
  const terminal = new Terminal();
  terminal.write('edge.yaml', EDGE);
  terminal.write('blue.yaml', exposureOf('blue'));
  return terminal;
}

/** Returns the objects of a text, as kubectl reads it. */
export function documentsIn(text: string): KubeObject[] {
  const documents = parseAllDocuments(text, { version: '1.1' });
  return documents.map((document) => document.toJS() as KubeObject);
}
