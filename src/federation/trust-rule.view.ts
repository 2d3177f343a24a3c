import Type, { type Static } from 'typebox';
import { Int64, named, orNull, plainId, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { SCOPES } from '../identity/scopes.ts';
import { NewLimits, presentLimits, readLimits, Scope, TokenLimitsResponse } from '../tokens/token.view.ts';
import type { RuleVerdict } from './trust-check.ts';
import type { TrustRule } from './trust-rule.ts';
import { lifetimeText, MAX_CLAIMS } from './trust-rule-input.ts';
import type { WantedTrustRule } from './trust-rules.ts';

const says = (description: string) => ({ description });
const Moment = Timestamp as typeof Timestamp & { type: string };
const Claims = {
  ...says(
    'What the token must say, by the name of a claim, or by a JSON pointer such as /kubernetes.io/namespace. A value is exact, or ends in * after one of / : - _ . @',
  ),
};
const KeySet = Type.Object(
  { keys: Type.Array(Type.Object({}, { additionalProperties: true }), says('The keys, each as a JSON Web Key.')) },
  says('The public keys of an issuer that cannot be reached.'),
);

export const TrustRuleResponse = named(
  'TrustRule',
  Type.Object(
    {
      id: Int64,
      name: Type.String(says('Its name, which no other rule of the robot has.')),
      issuer: Type.String(says('The iss of the tokens that it accepts, character by character.')),
      audience: Type.String(says('The aud of these tokens, or one of several.')),
      jwks: Type.Unsafe<Static<typeof KeySet> | null>({
        ...orNull(KeySet as typeof KeySet & { type: string }),
        ...says('The public keys of the issuer. Null: they are fetched from it.'),
      }),
      claims: Type.Record(Type.String(), Type.String(), Claims),
      scopes: Type.Array(Type.String({ enum: SCOPES }), says('Scopes of the issued tokens.')),
      limits: Type.Optional(TokenLimitsResponse),
      lifetime: Type.String(says('How long issued tokens work, such as PT1H.')),
      single_use: Type.Boolean(says('Whether each token of the issuer is accepted once.')),
      live_tokens: Type.Integer(says('How many issued tokens have not expired.')),
      last_used_at: Type.Unsafe<string | null>({ ...orNull(Moment), ...says('When it last issued one. Null: never.') }),
      created_at: Timestamp,
    },
    says('Which tokens of another issuer a robot account accepts in place of a stored token.'),
  ),
);

export const NewTrustRule = named(
  'NewTrustRule',
  Type.Object(
    {
      name: Type.String(says('Its name, which no other rule of the robot has.')),
      issuer: Type.String(says('The iss of the tokens, such as https://token.actions.githubusercontent.com.')),
      audience: Type.Optional(Type.String(says('Their aud. By default, the address of this server.'))),
      jwks: Type.Optional(KeySet),
      claims: Type.Record(Type.String(), Type.Unknown(), {
        description: `${Claims.description} At least one besides iss, aud, exp, nbf, iat and jti; at most ${MAX_CLAIMS}.`,
      }),
      scopes: Type.Optional(Type.Array(Scope, { maxItems: 100, ...says('Scopes of the issued tokens.') })),
      limits: Type.Optional(NewLimits),
      lifetime: Type.Optional(Type.String(says('From PT1M to PT1H, which is the default.'))),
      single_use: Type.Optional(
        Type.Boolean(
          says(
            'True by default. If false, a token is accepted as often as it is sent, for at most an hour, and what is issued for it ends with it.',
          ),
        ),
      ),
    },
    says('A trust rule to be created, or in place of another one.'),
  ),
);

export const OutsideTokenBody = named(
  'OutsideToken',
  Type.Object(
    { token: Type.String(says('A token of another issuer. It is neither stored nor spent.')) },
    says('A token to be tried.'),
  ),
);

const Check = named(
  'TrustCheck',
  Type.Object(
    {
      what: Type.String({
        enum: ['signature', 'issuer', 'audience', 'expiry', 'used', 'claim'],
        ...says('What is compared.'),
      }),
      claim: Type.Optional(Type.String(says('The name of the claim, or a JSON pointer to it.'))),
      wanted: Type.String(says('What the rule asks for.')),
      got: Type.Unsafe<string | null>({
        ...orNull(Type.String()),
        ...says('What the token says, or what is wrong. Null: it does not say it.'),
      }),
      holds: Type.Boolean(says('Whether it is what the rule asks for.')),
    },
    says('One thing that a rule asks of a token.'),
  ),
);

export const TrustExplanation = named(
  'TrustExplanation',
  Type.Object(
    {
      accepted: Type.Boolean(says('Whether a rule would accept the token.')),
      rule: Type.Unsafe<number | bigint | null>({
        type: ['integer', 'null'],
        format: 'int64',
        ...says('ID of the first rule that would. Null: none.'),
      }),
      rules: Type.Array(
        named(
          'TrustVerdict',
          Type.Object(
            {
              id: Int64,
              name: Type.String(says('Name of the rule.')),
              accepted: Type.Boolean(says('Whether every check holds.')),
              checks: Type.Array(Check, says('Everything that the rule asks for.')),
            },
            says('What one rule says about the token.'),
          ),
        ),
        says('All rules of the robot account, in the order in which they are tried.'),
      ),
    },
    says('Which trust rule would accept a token, and why the others would not.'),
  ),
);

export function readTrustBody(body: Static<typeof NewTrustRule>): WantedTrustRule {
  const { name, issuer, audience, jwks, claims, scopes, limits, lifetime, single_use: singleUse } = body;
  return { name, issuer, audience, jwks, claims, scopes, limits: readLimits(limits), lifetime, singleUse };
}

export function presentTrustRule(rule: TrustRule) {
  return {
    id: rule.id,
    name: rule.name,
    issuer: rule.issuer,
    audience: rule.audience,
    jwks: rule.jwks ? { keys: [...rule.jwks.keys] } : null,
    claims: { ...rule.claims },
    scopes: [...rule.scopes],
    ...(rule.limits && { limits: presentLimits(rule.limits) }),
    lifetime: lifetimeText(rule.lifetimeSeconds),
    single_use: rule.singleUse,
    live_tokens: rule.liveTokens,
    last_used_at: rule.lastUsedAt && timestamp(rule.lastUsedAt),
    created_at: timestamp(rule.createdAt),
  };
}

export function presentVerdicts(verdicts: readonly RuleVerdict[]) {
  const first = verdicts.find(({ accepted }) => accepted);
  return {
    accepted: first !== undefined,
    rule: first ? plainId(first.id) : null,
    rules: verdicts.map(({ id, name, accepted, checks }) => ({ id, name, accepted, checks: [...checks] })),
  };
}
