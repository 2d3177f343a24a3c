import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import {
  assertScimError,
  ENTERPRISE,
  found,
  newScimToken,
  patch,
  type ScimCall,
  scimCaller,
  USER,
  user,
} from '../../support/world/scim.ts';

const ENV = { SCIM_DOMAINS: 'acme:acme.example' };

for (const driver of COUNTED_DRIVERS) {
  describe(`What a provider says about the work of people on ${driver}`, () => {
    let atrium: TestServer;
    let acme: ScimCall;
    let boss: string;
    let at: string;
    before(async () => {
      atrium = await openTestServer({ driver, env: ENV });
      acme = scimCaller(atrium, await newScimToken(atrium, 'acme', 'ann'));
      const made = await acme('POST', '/Users', user('boss@acme.example', { externalId: 'e-boss' }));
      boss = made.body.id;
    });
    after(() => atrium.close());

    const workOf = async () => {
      const { body } = await acme('GET', at);
      return { title: body.title, ...body[ENTERPRISE] };
    };
    const referTo = (id: string) => `${atrium.url}/scim/v2/Users/${id}`;

    it(`Title, department, manager and the numbers are kept on ${driver} as POST gives them`, async () => {
      const work = { employeeNumber: '701984', costCenter: '4130', department: 'Tours', manager: { value: boss } };
      const made = await acme('POST', '/Users', {
        ...user('work@acme.example', { title: 'Tour Guide' }),
        schemas: [USER, ENTERPRISE],
        [ENTERPRISE]: { ...work, division: 'not kept', organization: 'not kept' },
      });
      assert.equal(made.status, 201, made.text);
      at = `/Users/${made.body.id}`;
      assert.deepEqual(made.body.schemas, [USER, ENTERPRISE]);
      assert.equal(made.body.title, 'Tour Guide');
      assert.deepEqual(made.body[ENTERPRISE], { ...work, manager: { value: boss, $ref: referTo(boss) } });
      assert.deepEqual((await acme('GET', at)).body, made.body);
    });

    it(`A change of the department on ${driver} is another version, and one that changes nothing is not`, async () => {
      const first = (await acme('GET', at)).headers.get('etag');
      const change = patch({ op: 'replace', path: `${ENTERPRISE}:department`, value: 'Travel' });
      const changed = (await acme('PATCH', at, change)).headers.get('etag');
      assert.notEqual(changed, first);
      assert.equal((await acme('PATCH', at, change)).headers.get('etag'), changed);
    });

    it(`Entra ID and Okta each change every part in their own forms of PATCH on ${driver}`, async () => {
      for (const [operation, expected] of [
        [{ op: 'Replace', path: 'title', value: 'Chef' }, { title: 'Chef' }],
        [{ op: 'Add', path: `${ENTERPRISE}:department`, value: 'Kitchen' }, { department: 'Kitchen' }],
        [{ op: 'Remove', path: `${ENTERPRISE}:department` }, { department: undefined }],
        [{ op: 'Add', path: `${ENTERPRISE}:manager`, value: boss }, { manager: { value: boss, $ref: referTo(boss) } }],
        [{ op: 'Remove', path: `${ENTERPRISE}:manager` }, { manager: undefined }],
        [
          { op: 'Add', path: `${ENTERPRISE}:manager`, value: [{ $ref: null, value: boss }] },
          { manager: { value: boss, $ref: referTo(boss) } },
        ],
        [{ op: 'Replace', path: `${ENTERPRISE}:manager.value`, value: '' }, { manager: undefined }],
        [
          { op: 'replace', value: { [`${ENTERPRISE}:employeeNumber`]: '7', [`${ENTERPRISE}:costCenter`]: 'C1' } },
          { employeeNumber: '7', costCenter: 'C1' },
        ],
        [
          { op: 'replace', value: { [ENTERPRISE]: { department: 'Bar', manager: { value: 'x', displayName: 'X' } } } },
          { department: 'Bar', employeeNumber: '7', manager: { value: 'x', displayName: 'X' } },
        ],
        // The name of one manager is not that of the next.
        [{ op: 'replace', path: `${ENTERPRISE}:manager`, value: { value: 'y' } }, { manager: { value: 'y' } }],
        [
          { op: 'add', path: `${ENTERPRISE}:manager.displayName`, value: 'Y' },
          { manager: { value: 'y', displayName: 'Y' } },
        ],
        [{ op: 'replace', path: `${ENTERPRISE}:manager.value`, value: 'z' }, { manager: { value: 'z' } }],
        [
          { op: 'add', path: ENTERPRISE, value: { Department: 'Garden' } },
          { department: 'Garden', costCenter: 'C1' },
        ],
        [{ op: 'replace', path: `${ENTERPRISE}:division`, value: 'not kept' }, { department: 'Garden' }],
        [
          { op: 'Remove', path: ENTERPRISE.toUpperCase() },
          {
            department: undefined,
            manager: undefined,
            employeeNumber: undefined,
            costCenter: undefined,
            title: 'Chef',
          },
        ],
        [{ op: 'replace', path: ENTERPRISE, value: null }, { department: undefined }],
      ] as const) {
        const answer = await acme('PATCH', at, patch(operation));
        assert.equal(answer.status, 200, `${JSON.stringify(operation)} ${answer.text}`);
        const work: Record<string, unknown> = await workOf();
        for (const [name, value] of Object.entries(expected)) {
          assert.deepEqual(work[name], value, `${name} after ${JSON.stringify(operation)}`);
        }
      }
    });

    it(`A PUT without the extension on ${driver} removes what was in it`, async () => {
      const whole = user('work@acme.example', { title: 'Guide' });
      await acme('PUT', at, { ...whole, [ENTERPRISE]: { department: 'Tours', manager: { managerId: '9' } } });
      assert.deepEqual(await workOf(), { title: 'Guide', department: 'Tours' });
      const bare = await acme('PUT', at, user('work@acme.example'));
      assert.deepEqual([bare.body.schemas, await workOf()], [[USER], { title: undefined }]);
    });

    it(`What cannot be read is rejected on ${driver}, and nothing changes`, async () => {
      await acme('PATCH', at, patch({ op: 'add', path: `${ENTERPRISE}:department`, value: 'Tours' }));
      for (const [operation, scimType] of [
        [{ op: 'replace', path: `${ENTERPRISE}:department`, value: { a: 1 } }, 'invalidValue'],
        [{ op: 'replace', path: `${ENTERPRISE}:department`, value: 'x'.repeat(256) }, 'invalidValue'],
        [{ op: 'replace', path: `${ENTERPRISE}:manager`, value: [{ value: 'a' }, { value: 'b' }] }, 'invalidValue'],
        [{ op: 'replace', path: `${ENTERPRISE}:manager.$ref`, value: 'x' }, 'mutability'],
        [{ op: 'replace', path: `${ENTERPRISE}:manager.phone`, value: 'x' }, 'invalidPath'],
        [{ op: 'replace', path: ENTERPRISE, value: 'x' }, 'invalidValue'],
        [{ op: 'replace', path: 'department', value: 'x' }, 'invalidPath'],
      ] as const) {
        assertScimError(await acme('PATCH', at, patch(operation)), 400, scimType);
      }
      assertScimError(await acme('PUT', at, { ...user('work@acme.example'), [ENTERPRISE]: [] }), 400, 'invalidSyntax');
      assert.equal((await workOf()).department, 'Tours');
    });

    it(`Searches on ${driver} filter, sort and select by the parts of the extension`, async () => {
      await acme('PUT', at, {
        ...user('work@acme.example', { title: 'Guide' }),
        [ENTERPRISE]: { department: 'Tours', employeeNumber: 'A-7', manager: { value: boss } },
      });
      for (const [filter, isFound] of [
        [`title eq "guide"`, true],
        [`${ENTERPRISE}:department sw "to"`, true],
        [`${ENTERPRISE}:employeeNumber eq "A-8"`, false],
        [`${ENTERPRISE}:manager.value eq "${boss}"`, true],
        [`${ENTERPRISE}:manager eq "${boss}"`, true],
        [`${ENTERPRISE}:costCenter pr`, false],
      ] as const) {
        const query = `/Users?attributes=userName&filter=${encodeURIComponent(filter)}`;
        assert.deepEqual(await found(acme, query, 'userName'), isFound ? ['work@acme.example'] : [], filter);
      }
      assertScimError(
        await acme('GET', `/Users?filter=${encodeURIComponent(`${ENTERPRISE} pr`)}`),
        400,
        'invalidFilter',
      );
      const sorted = await found(acme, `/Users?count=1&sortBy=${ENTERPRISE}:department`, 'userName');
      assert.deepEqual(sorted, ['work@acme.example']);
      const selected = async (selection: string) => {
        const { id: _, schemas: __, meta: ___, ...rest } = (await acme('GET', `${at}?${selection}`)).body;
        return rest;
      };
      assert.deepEqual(await selected(`attributes=${ENTERPRISE}:department`), {
        [ENTERPRISE]: { department: 'Tours' },
      });
      assert.deepEqual(await selected(`attributes=${ENTERPRISE}:manager.value`), {
        [ENTERPRISE]: { manager: { value: boss } },
      });
      assert.deepEqual(Object.keys((await selected(`attributes=${ENTERPRISE}`))[ENTERPRISE]), [
        'employeeNumber',
        'department',
        'manager',
      ]);
      assert.equal((await selected(`excludedAttributes=${ENTERPRISE}`))[ENTERPRISE], undefined);
      const without = await selected(`excludedAttributes=${ENTERPRISE}:manager`);
      assert.deepEqual(without[ENTERPRISE], { employeeNumber: 'A-7', department: 'Tours' });
    });

    it(`Callers who may list the members on ${driver} see their work, and the manager if one member is meant`, async () => {
      const put = async (work: object, further: object = {}) => {
        const answer = await acme('PUT', at, { ...user('work@acme.example', further), [ENTERPRISE]: work });
        assert.equal(answer.status, 200, answer.text);
        const members = await atrium.as('ann')('GET', '/orgs/acme/members?q=work');
        assert.equal(members.status, 200, members.text);
        const { title, department, employee_number, cost_center, manager, manager_name } = members.body[0];
        const work_ = { title, department, employee_number, cost_center, manager, manager_name };
        return Object.fromEntries(Object.entries(work_).filter(([, value]) => value !== undefined));
      };
      const manager = { type: 'user', id: Number(boss), name: 'boss' };
      const work = { employeeNumber: '7', costCenter: 'C1', department: 'Tours' };
      assert.deepEqual(await put({ ...work, manager: { value: boss, displayName: 'The boss' } }, { title: 'Guide' }), {
        ...{ title: 'Guide', department: 'Tours', employee_number: '7', cost_center: 'C1' },
        ...{ manager, manager_name: 'The boss' },
      });
      for (const value of ['e-boss', 'BOSS@acme.example', boss]) {
        assert.deepEqual(await put({ manager: { value } }), { manager }, value);
      }
      const ann = (await atrium.as('ann')('GET', '/user')).body;
      assert.deepEqual(await put({ manager: String(ann.id) }), { manager: { type: 'user', id: ann.id, name: 'ann' } });
      for (const value of ['E-BOSS', '999999', '9999999999999999999', 'nobody', ` ${boss}`]) {
        assert.deepEqual(await put({ manager: { value, displayName: 'X' } }), { manager_name: 'X' }, value);
      }
      // A second user whose external ID is the ID of the first: either can be meant.
      const other = await acme('POST', '/Users', user('other@acme.example', { externalId: boss }));
      assert.deepEqual(await put({ manager: { value: boss } }), {});
      await acme('PATCH', `/Users/${other.body.id}`, patch({ op: 'remove', path: 'externalId' }));
      assert.deepEqual(await put({ manager: { value: boss } }), { manager });
      await acme('PATCH', `/Users/${boss}`, patch({ op: 'replace', path: 'active', value: 'False' }));
      assert.deepEqual(await put({ manager: { value: boss } }), {}, 'a manager who has left');
      const eve = (await atrium.as('root')('GET', '/users/eve')).body;
      assert.deepEqual(await put({ manager: String(eve.id) }), {}, 'a user of another organization');
      assert.equal((await atrium.as('eve')('GET', '/orgs/acme/members')).status, 404);
    });

    it(`The extension is discovered on ${driver} with its attributes`, async () => {
      const type = await acme('GET', '/ResourceTypes/User');
      assert.deepEqual(type.body.schemaExtensions, [{ schema: ENTERPRISE, required: false }]);
      const { body } = await acme('GET', `/Schemas/${ENTERPRISE}`);
      assert.deepEqual(
        body.attributes.map(({ name }: { name: string }) => name),
        ['employeeNumber', 'costCenter', 'department', 'manager'],
      );
      assert.equal((await acme('GET', '/Schemas')).body.totalResults, 3);
    });
  });
}
