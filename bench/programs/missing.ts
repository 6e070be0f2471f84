/** The error for a program that is not available on this machine. The message has a hint. */
export class MissingProgramError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MissingProgramError';
  }
}
