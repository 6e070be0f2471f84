/**
 * For tests only: files as people write them.
 */

/** An Edge. */
export function edgeText(name: string, domain = 'example.com'): string {
  return `apiVersion: snicket.dev/v1alpha1
kind: Edge
metadata:
  name: ${name}
spec:
  driver: snicket
  domain: ${domain}
`;
}

/** An Exposure, with the two Secrets that it names. */
export function exposureText(name: string, api = '192.0.2.5:6443'): string {
  return `apiVersion: snicket.dev/v1alpha1
kind: Exposure
metadata:
  name: ${name}
spec:
  controlPlane:
    type: Endpoints
    endpoints:
      api: ["${api}"]
    caSecretRef: {name: ${name}-ca}
    kubeconfigSecretRef: {name: ${name}-admin}
`;
}
