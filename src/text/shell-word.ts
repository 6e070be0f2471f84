/** Quotes text for a shell. */
/** Text that every shell reads as a single literal word. A tilde at the start would be a home directory. */
const PLAIN = /^[\w@%+=:,./-][\w@%+=:,./~-]*$/;

/** Quotes a word of a command that a user copies, if necessary. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
