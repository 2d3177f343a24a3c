import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf, signedIn } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { named } from '../../http/wire/schemas.ts';
import type { NameCheck } from './name-check.ts';

const Validation = named(
  'NameCheck',
  Type.Object({
    Status: Type.String({
      enum: ['VALID', 'USER_EXISTS', 'RESERVED', 'INVALID', 'NOT_ALLOWED'],
      description: [
        'VALID if it can be used. USER_EXISTS if an account has it, RESERVED if no account may have it, INVALID if it',
        'breaks the rules, NOT_ALLOWED if the domain of the address is not permitted here.',
      ].join(' '),
    }),
  }),
);
const Text = Type.Optional(Type.String());

export function nameCheckRoutes(scope: Scope, names: NameCheck): void {
  const tags = ['user'];
  // The check changes nothing, so a read-only token is enough.
  const config = { access: signedIn('user', 'never', { level: 'read' }), takesNul: true };
  const response = { 200: Validation };
  // If a value is given twice, the query counts as empty. What is wrong with a value is the answer here, never an
  // error.
  const preValidation = async (request: FastifyRequest) => {
    const query = request.query as Record<string, unknown>;
    if (['user_name', 'org', 'email'].some((name) => Array.isArray(query[name]))) request.query = {};
  };

  scope.post(
    '/user/validate/username',
    {
      config,
      preValidation,
      schema: {
        summary: 'Check whether a username is available',
        tags,
        querystring: Type.Object({ user_name: Text }),
        response,
      },
    },
    async (request) => ({ Status: await names.username(request.query.user_name ?? '', callerOf(request).person) }),
  );

  scope.post(
    '/user/validate/orgname',
    {
      config,
      preValidation,
      schema: {
        summary: 'Check whether an organization name is available',
        tags,
        querystring: Type.Object({ user_name: Text, org: Text }),
        response,
      },
    },
    async (request) => {
      const { user_name, org } = request.query;
      return { Status: await names.organization(user_name ?? '', org, callerOf(request).person) };
    },
  );

  scope.post(
    '/user/validate/email',
    {
      config,
      preValidation,
      schema: {
        summary: 'Check whether an email address can be used',
        tags,
        querystring: Type.Object({ email: Text }),
        response,
      },
    },
    async (request) => ({ Status: await names.email(request.query.email ?? '') }),
  );
}
