/** A user or an organization as every caller can see it. */
export interface Profile {
  readonly id: bigint;
  readonly kind: 'user' | 'organization';
  readonly login: string;
  readonly fullName: string;
  readonly email: string;
  readonly location: string;
  readonly website: string;
  readonly description: string;
  readonly createdAt: Date;
  /** Owner or administrator of at least one organization. */
  readonly orgAdmin: boolean;
  /** Not for every caller: see `presentListed`. */
  readonly active: boolean;
  readonly lastLoginAt: Date | null;
}
