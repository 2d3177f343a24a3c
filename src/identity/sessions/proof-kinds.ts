/** What a user can have besides a password. Recovery codes come with the first of them. */
export const FACTOR_KINDS = ['passkey', 'totp'] as const;
export type FactorKind = (typeof FACTOR_KINDS)[number];

/**
 * How a user proved who they are, to open a session or later. A trusted provider is one that asks for a second factor
 * itself.
 */
export type SessionMethod = 'password' | 'token' | 'provider' | 'trusted_provider' | FactorKind | 'recovery_code';

/** Whether the user has shown something that they have besides a password. */
export function isSecondFactor(method: SessionMethod): boolean {
  return method === 'recovery_code' || FACTOR_KINDS.some((kind) => kind === method);
}

/** What a user who has these factors can finish signing in with. */
export function signInMethods(factors: readonly FactorKind[]): readonly (FactorKind | 'recovery_code')[] {
  return [...factors, 'recovery_code'];
}
