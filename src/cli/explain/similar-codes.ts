/** Largest number of suggestions. */
const MOST = 5;

/** Returns the codes that a user may have meant: those that contain the text or are in it, or differ in a few letters. */
export function similarCodes(text: string, codes: readonly string[]): readonly string[] {
  const wanted = text.toLowerCase();
  const rated = [...new Set(codes)].map((code) => {
    const lower = code.toLowerCase();
    const isPart = wanted.length > 2 && (lower.includes(wanted) || wanted.includes(lower));
    return { code, distance: isPart ? 0 : editDistance(wanted, lower) };
  });
  return rated
    .filter(({ distance }) => distance <= Math.max(2, Math.floor(wanted.length / 3)))
    .toSorted((a, b) => a.distance - b.distance || (a.code < b.code ? -1 : 1))
    .slice(0, MOST)
    .map(({ code }) => code);
}

/** Returns how many letters have to be added, removed or replaced (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [at, letter] of a.split('').entries()) {
    const next = [at + 1];
    for (const [to, other] of b.split('').entries()) {
      const replaced = (row[to] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[to + 1] ?? 0) + 1, (next[to] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
