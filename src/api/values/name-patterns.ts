/**
 * Patterns of RFC 1123 names, as sources of regular expressions for API validation and command-line flags.
 */

/** A DNS label. */
export const LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';

/** A namespace, or another name that is a single DNS label. */
export const LABEL_PATTERN = `^${LABEL}$`;

const PART = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

/**
 * The name of most objects: DNS labels separated by dots. Only the length of the whole name is limited, and not by this
 * pattern.
 */
export const SUBDOMAIN_PATTERN = `^${PART}(\\.${PART})*$`;
