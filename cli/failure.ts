/** `differs` is for commands that are asked whether something would change, as in `diff` of other programs. */
export const EXIT = { rejected: 1, usage: 2, differs: 2, unreachable: 3 } as const;

/** An expected error: one line that says what is wrong and what to type. */
export class Failure extends Error {
  readonly exit: number;
  constructor(exit: keyof typeof EXIT, message: string) {
    super(message);
    this.name = 'Failure';
    this.exit = EXIT[exit];
  }
}

/** Wrong usage: the command was not even started. */
export function misuse(message: string): Failure {
  return new Failure('usage', message);
}

export function rejected(message: string): Failure {
  return new Failure('rejected', message);
}
