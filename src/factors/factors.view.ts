import Type, { type Static } from 'typebox';
import { Int64, named, orNull, Timestamp, timestamp } from '../http/wire/schemas.ts';
import type { FactorHolder, FactorSummary, PasskeyCard } from './factors.ts';
import type { NewPasskey, PasskeyAnswer } from './passkeys.ts';
import type { Answer } from './second-step.ts';

const base64url = (description: string, maxLength: number) => Type.String({ maxLength, description });

const LastUsed = Type.Unsafe<string | null>({
  ...orNull({ ...Timestamp, type: 'string' }),
  description: 'When it was last used; null if never.',
});

export const Passkey = named(
  'Passkey',
  Type.Object({
    id: Int64,
    name: Type.String(),
    synced: Type.Boolean({ description: 'Whether it is synchronized to other devices of its owner.' }),
    created_at: Timestamp,
    last_used_at: LastUsed,
  }),
);

export const RecoveryCodes = Type.Array(Type.String(), {
  description: 'Each works once, instead of a second factor. They are shown only now.',
});

export const FactorList = named(
  'Factors',
  Type.Object({
    required: Type.Boolean({ description: 'Whether the user must have a second factor.' }),
    passkeys_available: Type.Boolean({
      description: 'Whether browsers have passkeys for this server: its public address is HTTPS, or localhost.',
    }),
    passkeys: Type.Array(Passkey),
    totp: Type.Optional(
      named(
        'AuthenticatorApp',
        Type.Object(
          { created_at: Timestamp, last_used_at: LastUsed },
          {
            description: 'The authenticator app. Absent if there is none.',
          },
        ),
      ),
    ),
    recovery_codes: Type.Optional(
      named(
        'RecoveryCodeState',
        Type.Object(
          {
            left: Type.Integer({ description: 'How many have not been used.' }),
            created_at: Timestamp,
          },
          { description: 'Absent if there is no second factor.' },
        ),
      ),
    ),
  }),
);

export const Holder = named(
  'FactorHolder',
  Type.Object({
    id: Int64,
    login: Type.String({ description: 'Login name.' }),
    full_name: Type.String(),
    is_admin: Type.Boolean(),
    passkeys: Type.Integer({ description: 'How many passkeys the user has.' }),
    totp: Type.Boolean({ description: 'Whether the user has an authenticator app.' }),
    recovery_codes_left: Type.Integer({ description: 'How many recovery codes have not been used.' }),
  }),
);

/** What `navigator.credentials` takes and gives, with bytes in base64url. */
export const CeremonyOptions = named(
  'PasskeyOptions',
  Type.Object(
    {
      publicKey: Type.Object(
        { challenge: Type.String({ description: 'Works once, in this browser, for five minutes.' }) },
        { additionalProperties: true, description: 'For the browser, with bytes in base64url.' },
      ),
    },
    { description: 'What a browser needs for `navigator.credentials`.' },
  ),
);

export const PasskeyCreation = named(
  'NewPasskey',
  Type.Object({
    name: Type.String({ description: 'What the user calls it; 1 to 60 characters.' }),
    response: named(
      'PasskeyCreation',
      Type.Object(
        {
          clientDataJSON: base64url('In base64url.', 4096),
          attestationObject: base64url('In base64url.', 65_536),
          transports: Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: 20 })),
        },
        { description: 'The response of the browser.' },
      ),
    ),
  }),
);

export const PasskeyAssertion = named(
  'PasskeyAssertion',
  Type.Object(
    {
      id: base64url('ID of the passkey, in base64url.', 1500),
      response: Type.Object({
        clientDataJSON: base64url('In base64url.', 4096),
        authenticatorData: base64url('In base64url.', 8192),
        signature: base64url('In base64url.', 2048),
        userHandle: Type.Optional(orNull(base64url('In base64url.', 128))),
      }),
    },
    { description: 'A passkey that the browser was asked for, and that its user unlocked.' },
  ),
);

export const Proofs = {
  code: Type.Optional(Type.String({ maxLength: 40, description: 'The code that the authenticator app shows.' })),
  recovery_code: Type.Optional(Type.String({ maxLength: 80, description: 'One of the recovery codes.' })),
  passkey: Type.Optional(PasskeyAssertion),
};

export function presentFactors(
  { passkeys, totp, recoveryCodes }: FactorSummary,
  { isRequired, isAvailable }: { readonly isRequired: boolean; readonly isAvailable: boolean },
): Static<typeof FactorList> {
  return {
    required: isRequired,
    passkeys_available: isAvailable,
    passkeys: passkeys.map(presentPasskey),
    ...(totp && { totp: { created_at: timestamp(totp.createdAt), last_used_at: orNever(totp.lastUsedAt) } }),
    ...(recoveryCodes && {
      recovery_codes: { left: recoveryCodes.left, created_at: timestamp(recoveryCodes.createdAt) },
    }),
  };
}

export function presentPasskey({ id, name, isSynced, createdAt, lastUsedAt }: PasskeyCard): Static<typeof Passkey> {
  return { id, name, synced: isSynced, created_at: timestamp(createdAt), last_used_at: orNever(lastUsedAt) };
}

export function presentHolder(holder: FactorHolder): Static<typeof Holder> {
  const { id, login, fullName, isAdmin, passkeys, hasTotp, recoveryCodesLeft } = holder;
  return {
    ...{ id, login, full_name: fullName, is_admin: isAdmin, passkeys },
    ...{ totp: hasTotp, recovery_codes_left: recoveryCodesLeft },
  };
}

export function readCreation({ name, response }: Static<typeof PasskeyCreation>): NewPasskey {
  return { name, ...response, transports: response.transports ?? [] };
}

export function readAssertion({ id, response }: Static<typeof PasskeyAssertion>): PasskeyAnswer {
  return { id, ...response, userHandle: response.userHandle || undefined };
}

interface Given {
  readonly code?: string | undefined;
  readonly recovery_code?: string | undefined;
  readonly passkey?: Static<typeof PasskeyAssertion> | undefined;
}

/** Undefined unless exactly one was given. */
export function readAnswer({ code, recovery_code: recoveryCode, passkey }: Given): Answer | undefined {
  const answers: Answer[] = [
    ...(code === undefined ? [] : [{ code }]),
    ...(recoveryCode === undefined ? [] : [{ recoveryCode }]),
    ...(passkey === undefined ? [] : [{ passkey: readAssertion(passkey) }]),
  ];
  return answers.length === 1 ? answers[0] : undefined;
}

function orNever(moment: Date | null): string | null {
  return moment === null ? null : timestamp(moment);
}
