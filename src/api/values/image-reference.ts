/**
 * References of container images.
 */

/**
 * Matches the characters that an image reference can contain: letters and digits, `.`, `_`, `-`, `+`, `/`, the `:` of a
 * port or tag, the `@` of a digest, and the brackets of an IPv6 address. It does not check their order: the container
 * runtime parses the reference. The pattern keeps out white space, quotes and line separators, since the reference is
 * copied into YAML, and a leading `-`.
 */
export const IMAGE_PATTERN = /^[A-Za-z0-9[][A-Za-z0-9._:/@+[\]-]*$/;

/**
 * The maximum length of an image reference. The longest one that registries accept has 456 characters: a name of 255, a
 * tag of 128, a SHA-256 digest of 71, and two separators.
 */
export const MAX_IMAGE_LENGTH = 512;
