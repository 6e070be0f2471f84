/**
 * What an image may be called: as container runtimes take it, without what no registry has in a name.
 */

/** A host, an IPv6 address in brackets too, a port, a path, a tag and a digest, as far as one pattern can tell. */
export const IMAGE_PATTERN = /^[A-Za-z0-9[][A-Za-z0-9._:/@+[\]-]*$/;

/** As long as it may be. */
export const MAX_IMAGE_LENGTH = 512;
