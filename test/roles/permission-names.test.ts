import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { nameOfAction, nameOfRelation } from '../../client/permissions.ts';
import { doing } from '../../src/authz/explain/explanation-text.ts';
import { actionNamed, permissionName } from '../../src/authz/explain/permission-names.ts';
import { PLATFORM_MODEL } from '../../src/authz/platform.gen.ts';
import { CATALOG } from '../../src/roles/catalog.ts';
import { nameOfRelation as nameInModel } from '../../src/roles/model-words.ts';

const SENTENCES: readonly (readonly [relation: string, name: string, sentence: string])[] = [
  ['can_edit_clusters', 'edit clusters', 'edit the clusters of acme'],
  ['can_connect_clusters', 'connect to clusters', 'connect to the clusters of acme'],
  ['can_view_robots', 'view robot accounts', 'view the robot accounts of acme'],
  ['can_delete_tokens', 'revoke tokens', 'revoke the tokens of acme'],
  ['can_manage_team_members', 'manage team members', 'manage the team members of acme'],
];

describe('Names of permissions', () => {
  for (const [relation, name, sentence] of SENTENCES) {
    it(`${relation} is called "${name}" by roles, tables and sentences`, () => {
      const entry = CATALOG.find((one) => one.relation === relation);
      assert.equal(permissionName(entry?.action ?? ''), name);
      assert.equal(nameOfRelation('organization', relation), name);
      assert.equal(doing(relation, 'acme'), sentence);
    });
  }

  it('What answers explain is called as in a role: the sentence of each permission begins with its name', () => {
    for (const { action, relation } of CATALOG) {
      const words = doing(relation, 'acme').replaceAll('the ', '');
      assert.ok(words.startsWith(`${permissionName(action)} `), `${action}: ${words}`);
    }
  });

  it('No two permissions of a namespace have the same name, and each name leads back to its action', () => {
    const names = CATALOG.map(({ namespace, action }) => `${namespace}:${permissionName(action)}`);
    assert.equal(new Set(names).size, names.length);
    for (const { action } of CATALOG) assert.equal(actionNamed(permissionName(action)), action);
  });

  it('The command line and the console have the same names as the server', () => {
    for (const { action } of CATALOG) assert.equal(nameOfAction(action), permissionName(action));
    for (const { type, relations = {} } of PLATFORM_MODEL.type_definitions) {
      for (const relation of Object.keys(relations).filter((one) => one.startsWith('can_'))) {
        assert.equal(nameOfRelation(type, relation), nameInModel(type, relation));
      }
    }
    assert.equal(nameOfRelation(undefined, 'can_view_orchestratorconfig'), 'view orchestrator configuration');
  });

  it('No file of the command line or the console makes up the name of a permission by itself', () => {
    const files = ['cli', 'console/src'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.tsx?$/.test(path))
        .map((path) => `${folder}/${path}`),
    );
    assert.ok(files.length > 200, String(files.length));
    const guilty = files.filter((path) => /can_\/[^;]*replaceAll\('_', ' '\)/.test(readFileSync(path, 'utf8')));
    assert.deepEqual(guilty, []);
  });
});
