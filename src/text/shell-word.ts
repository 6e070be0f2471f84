/**
 * Text that every shell reads as a single literal word. A tilde at the start would be a home directory.
 */
const PLAIN = /^[\w@%+=:,./-][\w@%+=:,./~-]*$/;

/** Quotes a name for a command that a user copies, if a shell would not read it as a single literal word. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
