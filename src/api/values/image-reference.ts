/**
 * Names of container images.
 */

/**
 * Characters of an image name: host, or IPv6 address in brackets, port, path, tag and digest. A single pattern cannot
 * check more.
 */
export const IMAGE_PATTERN = /^[A-Za-z0-9[][A-Za-z0-9._:/@+[\]-]*$/;

/** The maximum length of an image name. */
export const MAX_IMAGE_LENGTH = 512;
