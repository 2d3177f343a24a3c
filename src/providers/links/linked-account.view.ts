import Type from 'typebox';
import { Int64, named, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import type { LinkedAccount } from '../linked-accounts.ts';

export const LinkedInfo = named(
  'LinkedAccount',
  Type.Object({
    id: Int64,
    provider: Type.String({ description: 'Name of the provider.' }),
    provider_display_name: Type.String({ description: 'What the provider is called on the sign-in page.' }),
    issuer: Type.String({ description: 'Issuer of the identity.' }),
    subject: Type.String({ description: 'Identifier of the person at the issuer.' }),
    email: Type.String({ description: 'Email address at the provider, when the account was linked.' }),
    created_at: Timestamp,
    last_used_at: Type.Unsafe<string>({ ...Timestamp, description: 'When the user last signed in with it.' }),
  }),
);

/** A provider that has been removed is called by its name. */
export function presentLinked(
  { createdAt, lastUsedAt, ...same }: LinkedAccount,
  displayNames: ReadonlyMap<string, string>,
) {
  return {
    ...same,
    provider_display_name: displayNames.get(same.provider) ?? same.provider,
    created_at: timestamp(createdAt),
    last_used_at: timestamp(lastUsedAt),
  };
}
