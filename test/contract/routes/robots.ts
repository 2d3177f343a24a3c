import { getAs, noteId, ORG, PAGE, rowOfOrganization, writeOfOrganization, writeOfUser } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

export const ROBOTS = routes({
  'GET /api/v1/orgs/:org/robots': {
    names: 'org PAGE ?name:robotName',
    example: () => ({ as: 'ann', path: ORG, query: PAGE }),
    cost: getAs('the last page', '/orgs/acme/robots?limit=50&page=19'),
  },
  'POST /api/v1/orgs/:org/robots': {
    body: { name: '' },
    names: 'org .name .description',
    again: HAS_KEY,
    example: () => ({
      as: 'ann',
      path: ORG,
      body: { name: 'backup', description: 'Makes backups.' },
      note: noteId('robot'),
    }),
    cost: writeOfOrganization,
  },
  'GET /api/v1/robots/:id': {
    names: 'id:robot',
    example: ({ created: { robot = 0 } }) => ({ as: 'ann', path: { id: robot } }),
    cost: rowOfOrganization,
  },
  'PATCH /api/v1/robots/:id': {
    body: {},
    names: 'id:robot .name .description',
    example: ({ created: { robot = 0 } }) => ({
      as: 'ann',
      path: { id: robot },
      body: { description: 'Backs up every night.' },
    }),
    cost: writeOfOrganization,
  },
  'POST /api/v1/robots/:id/tokens': {
    body: { name: 'x' },
    names: 'id:robot TOKEN',
    again: HAS_KEY,
    example: ({ created: { robot = 0 } }) => ({
      as: 'ann',
      path: { id: robot },
      body: {
        name: 'nightly',
        scopes: ['write:organization'],
        expires_at: '2099-01-01T00:00:00Z',
        can_rotate: true,
        limits: { organizations: ['acme'] },
      },
    }),
    cost: writeOfOrganization,
  },
  'POST /api/v1/robots/:id/tokens/:token/rotate': {
    body: {},
    names: 'id:robot token .overlap_hours .expires_at',
    again: HAS_KEY,
    example: ({ created: { robot = 0 } }) => ({
      as: 'ann',
      path: { id: robot, token: 'nightly' },
      body: { overlap_hours: 2 },
      note({ body }, created) {
        created.token = body.sha1;
      },
    }),
    cost: writeOfOrganization,
  },
  'POST /api/v1/user/token/rotate': {
    body: {},
    names: '.overlap_hours',
    again: HAS_KEY,
    example: ({ created: { token } }) => ({ token, body: { overlap_hours: 24 } }),
    cost: writeOfUser,
  },
  'POST /api/v1/robots/:id/trust_rules': {
    body: { name: '', issuer: '', claims: {} },
    names: 'id:robot TRUST',
    again: HAS_KEY,
    example: ({ created: { robot = 0 } }) => ({
      as: 'ann',
      path: { id: robot },
      body: {
        name: 'main branch',
        issuer: 'https://token.actions.githubusercontent.com',
        audience: 'https://atrium.example.com',
        claims: { repository_id: '123456789', ref: 'refs/heads/main' },
        scopes: ['write:organization'],
        lifetime: 'PT15M',
      },
      note: ({ body: { id } }, created) => {
        created.rule = id;
      },
    }),
    cost: writeOfOrganization,
  },
  'GET /api/v1/robots/:id/trust_rules': {
    names: 'id:robot PAGE',
    example: ({ created: { robot = 0 } }) => ({ as: 'ann', path: { id: robot } }),
    cost: getAs('a page', ({ robot }) => `/robots/${robot}/trust_rules`),
  },
  'GET /api/v1/robots/:id/trust_rules/:rule': {
    names: 'id:robot rule:text',
    example: ({ created: { robot = 0, rule = 0 } }) => ({ as: 'ann', path: { id: robot, rule: String(rule) } }),
    cost: rowOfOrganization,
  },
  'PUT /api/v1/robots/:id/trust_rules/:rule': {
    body: { name: '', issuer: '', claims: {} },
    names: 'id:robot rule:text TRUST',
    example: ({ created: { robot = 0, rule = 0 } }) => ({
      as: 'ann',
      path: { id: robot, rule: String(rule) },
      body: {
        name: 'releases',
        issuer: 'https://token.actions.githubusercontent.com',
        audience: 'https://atrium.example.com',
        claims: { repository_id: '123456789', ref: 'refs/tags/*' },
      },
    }),
    cost: writeOfOrganization,
  },
  'POST /api/v1/robots/:id/trust_rules/explain': {
    body: { token: 'x' },
    names: 'id:robot .token:text',
    again: 'only reads',
    example: ({ created: { robot = 0 } }) => ({ as: 'ann', path: { id: robot }, body: { token: 'not a token' } }),
    cost: {
      what: 'a token of 16 KiB that no rule accepts',
      shot: ({ robot }) => ({
        as: 'ann',
        path: `/robots/${robot}/trust_rules/explain`,
        body: { token: 'x'.repeat(16_000) },
      }),
    },
  },
  'DELETE /api/v1/robots/:id/trust_rules/:rule': {
    names: 'id:robot rule:text',
    example: ({ created: { robot = 0, rule = 0 } }) => ({ as: 'ann', path: { id: robot, rule: String(rule) } }),
    cost: writeOfOrganization,
  },
  'GET /api/v1/robots/:id/tokens': {
    names: 'id:robot PAGE',
    example: ({ created: { robot = 0 } }) => ({ as: 'ann', path: { id: robot }, query: PAGE }),
    cost: getAs('a page', ({ robot }) => `/robots/${robot}/tokens?limit=50&page=3`),
  },
  'DELETE /api/v1/robots/:id/tokens/:token': {
    names: 'id:robot token',
    example: ({ created: { robot = 0 } }) => ({ as: 'ann', path: { id: robot, token: 'nightly' } }),
    cost: writeOfOrganization,
  },
  'GET /api/v1/orgs/:org/token_policy': {
    names: 'org',
    example: () => ({ as: 'ann', path: ORG }),
    cost: getAs('the rules', '/orgs/acme/token_policy'),
  },
  'PUT /api/v1/orgs/:org/token_policy': {
    body: { max_days: 0 },
    names: 'org .max_days .expiry_required',
    example: () => ({ as: 'ann', path: ORG, body: { max_days: 3650 } }),
    cost: writeOfUser,
  },
  'GET /api/v1/admin/token_policy': {
    names: '',
    example: () => ({ as: 'root' }),
    cost: getAs('the rules', '/admin/token_policy', 'root'),
  },
  'PUT /api/v1/admin/token_policy': {
    body: { max_days: 0 },
    names: '.max_days .expiry_required .personal_tokens',
    example: () => ({ as: 'root', body: { personal_tokens: 'everyone' } }),
    cost: writeOfUser,
  },
  'DELETE /api/v1/robots/:id': {
    names: 'id:robot',
    example: ({ created: { robot = 0 } }) => ({ as: 'ann', path: { id: robot } }),
    cost: {
      what: 'a robot with 170 tokens',
      isFirst: true,
      shot: async (world, round) => {
        const [made] = await world.run<{ id: bigint }>(
          `insert into robot (owner_id, name) values ($1, $2) returning id`,
          [world.acme, `doomed${round}`],
        );
        await world.run(
          `insert into token (account_id, robot_id, name, hash, last_eight, scopes)
         select $1::bigint, $2::bigint, 't' || n, sha256(concat($2::bigint, '-', n)::bytea), '12345678', '{all}' from generate_series(1, 170) n`,
          [world.acme, made?.id],
        );
        return { as: 'ann', path: `/robots/${made?.id}` };
      },
    },
  },
});
