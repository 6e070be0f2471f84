/** Host (a dot, a port or `localhost` tells it from a path), path in lower case, tag. */
const NAME =
  /^[a-zA-Z0-9.-]+(:\d+)?(\/[a-z0-9]+((\.|_{1,2}|-+)[a-z0-9]+)*)+:[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

/**
 * Why this cannot be the name of our image; nothing if it can. Host and tag have to be there: containerd takes a name as it
 * is, while kubelet would look for `docker.io/library/` and `:latest` in front of and behind a short one.
 */
export function imageNameFault(name: string): string | undefined {
  const [host = ''] = name.split('/');
  const hasHost = name.includes('/') && (/[.:]/.test(host) || host === 'localhost');
  if (hasHost && NAME.test(name)) return undefined;
  return `'${name}' is no image name with host, path and tag; write one such as registry.example.com/snicket:0.1.0`;
}
