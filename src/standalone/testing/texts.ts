/** For tests only: texts of files. */

/** Returns the text of an Edge. */
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

/** Returns the text of an Exposure that references two Secrets. */
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
