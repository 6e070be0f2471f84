/**
 * Distributes names over slices so that each name keeps its slice. A node that joins or leaves changes one slice, and
 * not all slices after it.
 */

/**
 * Returns the names in pages of at most `size`. A name stays on its page, and a new name goes to the first page with
 * room. Pages other than the first may be empty.
 *
 * @param before - The current pages, in order.
 */
export function pagesOf(
  names: readonly string[],
  before: readonly (readonly string[])[],
  size: number,
): readonly (readonly string[])[] {
  const unassigned = new Set(names);
  const existing = before.map((page) => page.filter((name) => unassigned.delete(name)));
  // The first page is empty, and must not be: distribute all names again.
  if (existing[0]?.length === 0) return chunksOf(names, size);
  const pages = existing.map((page) => {
    for (const name of page.slice(size)) unassigned.add(name);
    return page.slice(0, size);
  });
  for (const name of [...unassigned].toSorted()) {
    const page = pages.find(({ length }) => length < size);
    if (page === undefined) pages.push([name]);
    else page.push(name);
  }
  return pages.map((page) => page.toSorted());
}

function chunksOf(names: readonly string[], size: number): readonly (readonly string[])[] {
  const sorted = [...new Set(names)].toSorted();
  const count = Math.ceil(sorted.length / size);
  return Array.from({ length: count }, (_, index) =>
    sorted.slice(index * size, (index + 1) * size),
  );
}
