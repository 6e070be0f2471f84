/** What every shell takes for one word, and for nothing else. A tilde at the start would be somebody's home. */
const PLAIN = /^[\w@%+=:,./-][\w@%+=:,./~-]*$/;

/** A name within a command that is printed for people to copy: in quotes, where a shell would take it for more than a word. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
