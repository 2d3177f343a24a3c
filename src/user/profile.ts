/** A person or an organization as everybody may see them. */
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
}
