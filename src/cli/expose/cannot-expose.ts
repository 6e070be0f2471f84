/** That there is nothing to expose; the message says why, and what to do. */
export class CannotExpose extends Error {
  override readonly name = 'CannotExpose';
}
