/**
 * Names as RFC 1123 has them, as sources of patterns: rules of our objects and values of flags are made from them.
 */

/** One label: what is between two dots. */
export const LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';

/** A namespace, or any other name that goes where no dot may be. */
export const LABEL_PATTERN = `^${LABEL}$`;

const PART = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

/** The name of most objects: labels with dots between them. Only the whole has a length. */
export const SUBDOMAIN_PATTERN = `^${PART}(\\.${PART})*$`;
