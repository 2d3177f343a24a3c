/** A user or an organization as everybody can see it. */
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
  /** Not for everybody: see `presentListed`. */
  readonly active: boolean;
  readonly lastLoginAt: Date | null;
}
