/**
 * The default image of the proxy.
 */
import manifest from '../../../package.json' with { type: 'json' };

/** The image of this version. */
export const PROXY_IMAGE = `snicket.dev/snicket:${manifest.version}`;
