import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Model, readModel } from '../../packages/rebac/src/rebac.ts';
import { permissionName } from '../../src/authz/explain/permission-names.ts';
import { RESOURCE_TYPES } from '../../src/changes/object-kinds.ts';
import { CATALOG, type CatalogEntry } from '../../src/roles/catalog.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { makeHolder, numbersOf, resourcesOf } from '../support/world/authz.ts';

const wording = ({ namespace, action }: CatalogEntry) => `${namespace} "${permissionName(action)}"`;

describe('Permission catalog and model', () => {
  let model: Model;
  before(async () => {
    model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
  });

  it('The permissions of the catalog are exactly the relations that the model lets a role hold', () => {
    const organization = model.typeIndex.get('organization');
    const role = model.typeIndex.get('role');
    assert.ok(organization && role);
    const assignee = role.firstUserset + (role.relationIndex.get('assignee') ?? Number.NaN);
    const assignable = organization.relations.filter(({ admits }) => admits.has(assignee)).map(({ name }) => name);
    assert.deepEqual(CATALOG.map(({ relation }) => relation).sort(), assignable.sort());
    const others = model.types.filter((type) => type !== organization).flatMap((type) => type.relations);
    assert.ok(!others.some(({ admits }) => admits.has(assignee)));
  });

  it('Every required permission in the catalog is an entry of the same namespace', () => {
    for (const { namespace, requires } of CATALOG) {
      for (const action of requires) {
        assert.ok(CATALOG.some((other) => other.namespace === namespace && other.action === action));
      }
    }
  });
});

describe('Permissions of the catalog', () => {
  let atrium: TestServer;
  let holder: Awaited<ReturnType<typeof makeHolder>>;
  let objects: { objectType: string; objectID: number }[];
  before(async () => {
    atrium = await openTestServer();
    holder = await makeHolder(atrium, []);
    const id = numbersOf(atrium);
    const asked: [string, number][] = [
      ['organization', id.org('acme')],
      ['team', id.team('operators')],
      ['team', id.team('Owners')],
      ...RESOURCE_TYPES.map((type): [string, number] => [
        type,
        Number([...resourcesOf(atrium.world, type).values()][0]),
      ]),
    ];
    objects = asked.map(([objectType, objectID]) => ({ objectType, objectID }));
  });
  after(() => atrium.close());

  /** Everything that the holder may do anywhere, one line each. */
  async function allowed(): Promise<string[]> {
    const { status, body } = await atrium.as(holder.name)(
      'POST',
      '/authz/objects/allowed-permissions?org=acme',
      objects,
    );
    assert.equal(status, 200);
    return body.flatMap(
      ({ objectType, objectID, allowedPermissions }: (typeof objects)[0] & { allowedPermissions: string[] }) =>
        allowedPermissions.map((relation) => `${objectType}:${objectID} ${relation}`),
    );
  }

  async function give(permissions: readonly CatalogEntry[]): Promise<void> {
    const body = { permissions: permissions.map(({ namespace, action }) => ({ namespace, action })) };
    const answer = await atrium.as('ann')('PUT', `/authz/roles/${holder.roleId}?org=acme`, body);
    assert.equal(answer.status, 200, answer.text);
  }

  for (const entry of CATALOG) {
    it(`Permission ${wording(entry)} grants only itself and what it requires, until revoked`, async () => {
      const bare = await allowed();
      await give([entry]);
      const now = await allowed();
      const gained = now.filter((line) => !bare.includes(line));
      assert.ok(gained.some((line) => line.startsWith('organization:') && line.endsWith(` ${entry.relation}`)));
      assert.deepEqual(
        bare.filter((line) => !now.includes(line)),
        [],
      );
      const implied = CATALOG.filter(
        (other) => other.namespace === entry.namespace && entry.requires.includes(other.action),
      );
      assert.equal(implied.length, entry.requires.length);
      for (const { relation } of implied) assert.ok(gained.some((line) => line.endsWith(` ${relation}`)));
      const others = CATALOG.filter((other) => other !== entry && !implied.includes(other));
      for (const { relation } of others) {
        assert.ok(!gained.some((line) => line.startsWith('organization:') && line.endsWith(` ${relation}`)), relation);
      }
      await give([]);
      assert.deepEqual(await allowed(), bare);
    });
  }

  it('Granting a permission together with those it requires grants nothing more', async () => {
    for (const entry of CATALOG.filter(({ requires }) => requires.length > 0)) {
      await give([entry]);
      const alone = await allowed();
      await give(
        CATALOG.filter(
          (other) => other === entry || (other.namespace === entry.namespace && entry.requires.includes(other.action)),
        ),
      );
      assert.deepEqual(await allowed(), alone);
    }
    await give([]);
  });

  /** A permission on existing resources shows on the resource itself, not only on the organization. */
  it('Permissions on existing resources take effect on the resources themselves', async () => {
    const onThings = CATALOG.filter(({ action }) =>
      /^(view|edit|reconfigure|connect|remove|delete|revoke|manage)/.test(action),
    );
    const onlyOrganization = [
      'edit',
      'view members',
      'remove members',
      'view roles',
      'edit roles',
      'delete roles',
      'view audit log',
    ];
    for (const entry of onThings.filter(({ action }) => !onlyOrganization.includes(action))) {
      await give([entry]);
      const things = (await allowed()).filter((line) => !line.startsWith('organization:'));
      assert.ok(things.length > 0, wording(entry));
    }
    await give([]);
  });
});
