export const EXIT = { refused: 1, usage: 2, unreachable: 3 } as const;

/** What goes wrong in words: one line that says what it was and what to type. */
export class Failure extends Error {
  readonly exit: number;
  constructor(exit: keyof typeof EXIT, message: string) {
    super(message);
    this.name = 'Failure';
    this.exit = EXIT[exit];
  }
}

/** Typed wrongly: the program was not even started on it. */
export function misuse(message: string): Failure {
  return new Failure('usage', message);
}

export function refused(message: string): Failure {
  return new Failure('refused', message);
}
