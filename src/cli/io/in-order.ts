/** Yields the result of `work` for each item, in the order of the items. At most `max` run at the same time. */
export async function* inOrder<Item, Result>(
  items: readonly Item[],
  max: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<{ readonly item: Item; readonly result: Promise<Result> }, void> {
  const started: { readonly item: Item; readonly result: Promise<Result> }[] = [];
  for (const item of items) {
    const result = work(item);
    // The promise is awaited only in its turn. An earlier rejection would be unhandled and end the process.
    result.catch(() => undefined);
    started.push({ item, result });
    if (started.length === max) yield* started.splice(0, 1);
  }
  yield* started;
}
