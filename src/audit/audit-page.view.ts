import Type from 'typebox';
import { Int64, named, Timestamp } from '../http/wire/schemas.ts';
import { ShownActor } from '../http/wire/shown-actor.ts';
import { COUNTED_DAYS, MAX_COUNTED_ACTIONS } from './audit.ts';

const State = Type.Unsafe<unknown>({ description: 'State before or after the change. Null if there is none.' });
const Entry = named(
  'AuditEntry',
  Type.Object({
    id: Int64,
    at: Timestamp,
    organization_id: Int64,
    actor: ShownActor,
    on_behalf_of: Type.Optional(
      Type.Object(
        { id: Int64, name: Type.String() },
        { description: 'The user for whom the actor, a site administrator, acted. Absent if there is none.' },
      ),
    ),
    via: Type.Optional(
      Type.Union(
        [
          named(
            'AuditedOutsideToken',
            Type.Object(
              {
                issuer: Type.String({ description: 'Its iss.' }),
                subject: Type.Unsafe<string | null>({
                  type: ['string', 'null'],
                  description: 'Its sub. Null if it has none.',
                }),
                rule: Type.Unsafe<number | bigint>({ ...Int64, description: 'ID of the trust rule that accepted it.' }),
                jti: Type.Unsafe<string | null>({
                  type: ['string', 'null'],
                  description: 'Its jti. Null if it has none.',
                }),
              },
              { description: 'The token of another issuer that the robot was given its own for.' },
            ),
          ),
          named(
            'AuditedDelegate',
            Type.Object(
              {
                delegate: Type.String({ description: 'What the user calls the agent.' }),
                token: Type.Unsafe<number | bigint>({ ...Int64, description: 'ID of its delegated token.' }),
                endpoint: Type.Optional(
                  Type.String({ enum: ['mcp'], description: 'Set if it called the endpoint for agents.' }),
                ),
              },
              { description: 'The agent that acted for the actor.' },
            ),
          ),
          Type.String({ enum: ['mcp'], description: 'The endpoint for agents of users.' }),
        ],
        {
          description:
            'What the change came through: a token of another issuer, an agent, or the endpoint for agents. Absent for all else.',
        },
      ),
    ),
    action: Type.String(),
    object: Type.Object({
      type: Type.String(),
      id: Int64,
      name: Type.Optional(
        Type.String({
          description: [
            'The present name, if the caller may see the object, else the last one that the log tells.',
            'Absent if there is none. It is not part of the hash.',
          ].join(' '),
        }),
      ),
    }),
    summary: Type.String({
      description: 'The entry in words, such as: pia added ben to the team Owners. It is not part of the hash.',
    }),
    before: State,
    after: State,
    request_id: Type.String(),
    form: Type.Optional(
      Type.Unsafe<2>({ type: 'integer', enum: [2], description: 'Only if the hash covers hashes of personal texts.' }),
    ),
    hashed: Type.Optional(
      Type.Object(
        {
          actor: Type.Optional(Type.String({ description: 'Covered instead of the name of the actor.' })),
          on_behalf_of: Type.Optional(Type.String({ description: 'Covered instead of the name of that user.' })),
          before: Type.Optional(Type.Unsafe<unknown>({ description: 'Covered instead of the state before.' })),
          after: Type.Optional(Type.Unsafe<unknown>({ description: 'Covered instead of the state after.' })),
        },
        { description: 'What the hash covers instead of what is shown. Only in form 2.' },
      ),
    ),
    texts: Type.Optional(
      Type.Array(
        Type.Object({
          sha256: Type.String({ description: 'SHA-256 of the bytes of salt and the text in UTF-8, in hexadecimal.' }),
          user: Type.Unsafe<number | bigint>({ ...Int64, description: 'Whom the text identifies. 0 if unknown.' }),
          salt: Type.Optional(Type.String({ description: 'In hexadecimal. Absent if the person is erased.' })),
          text: Type.Optional(Type.String({ description: 'Absent if the person is erased.' })),
        }),
        { description: 'The texts that are shown where hashed has "sha256:" and their hash. Only in form 2.' },
      ),
    ),
    erased: Type.Optional(
      Type.Unsafe<true>({
        ...{ type: 'boolean', enum: [true] },
        description:
          'Only if a person was erased from an entry of an earlier release, which had names under its hash. The hash is the one before that; an entry user.erase of the deployment lists it.',
      }),
    ),
    attested: Type.Optional(
      Type.Object(
        {
          key_id: Type.String({ description: 'The key with the use audit of /.well-known/webhook-keys.' }),
          signature: Type.String({
            description:
              'Ed25519, in base64, over the UTF-8 text ["erased entry","ORGANIZATION_ID","ID","HASH","LEFT"], without whitespace. LEFT is computed like a hash from what the entry has now.',
          }),
        },
        {
          description:
            'That the log of the deployment attests what was erased. Only with erased, in exports of a single log and in archives.',
        },
      ),
    ),
    previous_hash: Type.String(),
    hash: Type.String({
      description: [
        'SHA-256, in hexadecimal, of the 32 bytes of previous_hash followed by the UTF-8 text of a JSON array without',
        'whitespace: at, organization_id, actor.id, actor.name, action, object.type, object.id, before, after,',
        'request_id, previous_hash and, if there is on_behalf_of, its id and name, and, if the actor is a robot, actor.type, and, if there is via, its text exactly as in this response.',
        'In form 2, an element that hashed has is covered as it is there.',
        'All elements are strings: numbers in decimal, before and after exactly as they are in this response, or null. In the first entry of an organization, previous_hash is all zeros.',
      ].join(' '),
    }),
  }),
);
/** A page of entries. */
export const AuditPage = named(
  'AuditPage',
  Type.Object({
    items: Type.Array(Entry),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  }),
);

/** Which actions there are, and how often. */
export const AuditActions = Type.Array(
  named(
    'AuditAction',
    Type.Object({
      action: Type.String(),
      description: Type.String({ description: 'What the action means.' }),
      count: Type.Integer({
        description: `How many entries the last ${COUNTED_DAYS} days have, counted up to ${MAX_COUNTED_ACTIONS}.`,
      }),
      more: Type.Optional(
        Type.Unsafe<true>({ type: 'boolean', enum: [true], description: 'Only if there are more than that.' }),
      ),
    }),
  ),
);
