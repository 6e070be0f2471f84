/** A program that cannot be had on this machine. The message says what to do about it. */
export class MissingProgramError extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'MissingProgramError';
  }
}
