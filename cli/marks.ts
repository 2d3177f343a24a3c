interface Marked {
  readonly name: string;
  /** Only of a robot. Users in lists of members have a number. */
  readonly type?: unknown;
  readonly active?: boolean;
}

/**
 * A user or a robot in an answer about who may do what. A deactivated user cannot use what they hold. A robot is
 * named as in questions, because a user can have the same name.
 */
export function marked({ name, type, active }: Marked): string {
  const shown = type === 'robot_ac' ? `robot:${name}` : name;
  return active === false ? `${shown} (deactivated)` : shown;
}
