import type { Measured } from '../../../bench/requests/entry.ts';
import type { FullWorld } from '../../../bench/requests/fill.ts';
import { only } from '../../../src/db/db.ts';
import { routes } from './route.ts';

/** The robot that speaks SCIM for acme. */
const as = 'directory';

/** As many comparisons as a filter may have, none of which finds anybody. */
const LONGEST_FILTER = Array.from({ length: 20 }, (_, at) => `displayName co "nobody ${at}"`).join(' or ');
const patch = (...Operations: readonly object[]) => ({ Operations });
const values = (ids: readonly bigint[]) => ids.map((id) => ({ value: String(id) }));

function get(what: string, path: string): Measured {
  return { what, shot: () => ({ as, path: `/scim/v2${path}` }) };
}

/** A thousand people of acme who are not in its custom team. */
async function thousand({ run, acme, team }: FullWorld, round: number): Promise<bigint[]> {
  const rows = await run<{ id: bigint }>(
    `select distinct m.account_id as id from team_member m join team t on t.id = m.team_id and t.organization_id = $1
      where not exists (select 1 from team_member o where o.team_id = $2 and o.account_id = m.account_id)
      order by id offset $3 limit 1000`,
    [acme, team, round * 1000],
  );
  return rows.map(({ id }) => id);
}

async function member({ run }: FullWorld, name: string): Promise<string> {
  return `/scim/v2/Users/${only(await run<{ id: bigint }>('select id from account where name = $1', [name])).id}`;
}

const small = { as: 'GET /scim/v2/Users', because: 'sends a document that never changes' };

export const SCIM = routes({
  'GET /scim/v2/ServiceProviderConfig': { isHidden: true, cost: small },
  'GET /scim/v2/ResourceTypes': { isHidden: true, cost: small },
  'GET /scim/v2/ResourceTypes/:id': { isHidden: true, cost: small },
  'GET /scim/v2/Schemas': { isHidden: true, cost: small },
  'GET /scim/v2/Schemas/:id': { isHidden: true, cost: small },
  'POST /scim/v2/Bulk': { isHidden: true, cost: small },
  'POST /scim/v2/.search': { isHidden: true, cost: small },
  'GET /scim/v2/Me': { isHidden: true, cost: small },
  'GET /scim/v2/Users': {
    isHidden: true,
    cost: [
      get('the last page by name', '/Users?count=200&startIndex=49000&sortBy=userName'),
      get('the longest filter', `/Users?count=200&filter=${encodeURIComponent(LONGEST_FILTER)}`),
      get('with all their groups', '/Users?count=200&attributes=groups'),
      get('one by name', '/Users?filter=userName%20eq%20%22mass1@example.com%22'),
    ],
  },
  'POST /scim/v2/Users/.search': {
    isHidden: true,
    cost: { as: 'GET /scim/v2/Users', because: 'does the same with a body' },
  },
  'GET /scim/v2/Users/:id': { isHidden: true, cost: { as: 'GET /scim/v2/Users', because: 'shows one of them' } },
  'POST /scim/v2/Users': {
    isHidden: true,
    cost: {
      what: 'one more among 50,000',
      shot: (_world, round) => ({
        as,
        path: '/scim/v2/Users',
        body: { userName: `late${round}@acme.example` },
      }),
    },
  },
  'PUT /scim/v2/Users/:id': {
    isHidden: true,
    cost: { as: 'PATCH /scim/v2/Users/:id', because: 'ends in the same change' },
  },
  'PATCH /scim/v2/Users/:id': {
    isHidden: true,
    cost: {
      what: 'two hundred operations',
      shot: async (world, round) => ({
        as,
        path: await member(world, `mass5${round}`),
        body: patch(
          ...Array.from({ length: 199 }, (_, at) => ({
            op: 'replace',
            path: 'emails',
            value: Array.from({ length: 20 }, (_one, place) => ({ value: `m${at}.${place}.${round}@acme.example` })),
          })),
          { op: 'replace', path: 'active', value: false },
        ),
      }),
    },
  },
  'DELETE /scim/v2/Users/:id': {
    isHidden: true,
    cost: {
      what: 'somebody active',
      shot: async (world, round) => ({ as, path: await member(world, `mass6${round}`) }),
    },
  },
  'GET /scim/v2/Groups': {
    isHidden: true,
    cost: [
      get('with all members', '/Groups?count=200'),
      get('without members', '/Groups?count=200&excludedAttributes=members&sortBy=displayName'),
    ],
  },
  'POST /scim/v2/Groups/.search': {
    isHidden: true,
    cost: { as: 'GET /scim/v2/Groups', because: 'does the same with a body' },
  },
  'GET /scim/v2/Groups/:id': {
    isHidden: true,
    cost: {
      what: 'the team with the most members',
      shot: async ({ run, acme }) => {
        const rows = await run<{ id: bigint }>(
          `select t.id from team t join team_member m on m.team_id = t.id where t.organization_id = $1
          group by t.id order by count(*) desc, t.id limit 1`,
          [acme],
        );
        return { as, path: `/scim/v2/Groups/${only(rows).id}` };
      },
    },
  },
  'POST /scim/v2/Groups': {
    isHidden: true,
    cost: { as: 'PATCH /scim/v2/Groups/:id', because: 'adds members in the same way' },
  },
  'PUT /scim/v2/Groups/:id': {
    isHidden: true,
    cost: { as: 'PATCH /scim/v2/Groups/:id', because: 'ends in the same change' },
  },
  'PATCH /scim/v2/Groups/:id': {
    isHidden: true,
    cost: {
      what: 'a thousand more members',
      shot: async (world, round) => ({
        as,
        path: `/scim/v2/Groups/${world.team}`,
        body: patch({ op: 'add', path: 'members', value: values(await thousand(world, round)) }),
      }),
    },
  },
  'DELETE /scim/v2/Groups/:id': {
    isHidden: true,
    cost: { as: 'DELETE /api/v1/teams/:id', because: 'ends in the same change' },
  },
});
