/**
 * For tests only: the form of messages and actions, which are full sentences. The last sentence may end with a command.
 */

/** Matches text that begins with a capital or the name of a project, and ends with a full stop or a command. */
export const FULL_SENTENCES =
  /^(?:[A-Z]|k0smotron |k0rdent |ingress-nginx )[^]*(?:[.…]|: (?:kubectl|openssl|snicket|ip) [^]*)$/;
