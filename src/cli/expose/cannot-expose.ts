/** Thrown if there is nothing to expose. The message says why, and what to do. */
export class CannotExpose extends Error {
  override readonly name = 'CannotExpose';
}
