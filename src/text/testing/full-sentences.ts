/**
 * The form of messages and actions: full sentences. The last one may end with a command to copy.
 */

/** Matches text that begins with a capital or the name of a project, and ends with a full stop or a command. */
export const FULL_SENTENCES =
  /^(?:[A-Z]|k0smotron |k0rdent |ingress-nginx )[^]*(?:[.…]|: (?:kubectl|openssl|snicket|ip) [^]*)$/;
