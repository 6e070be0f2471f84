export function reportText(results: unknown): string {
  return JSON.stringify(results, undefined, 1);
}
