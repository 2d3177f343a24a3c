import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OBJECT_KINDS } from '../../client/object-kinds.gen.ts';
import { NAMED_TYPES } from '../../client/object-kinds.ts';
import { CONSOLE_ROUTES } from '../support/world/console-pages.ts';

describe('Pages of object types', () => {
  for (const type of NAMED_TYPES) {
    it(`The console has a page with a list of objects of type ${type}, and one for each of them`, () => {
      const list = `/orgs/:org/${OBJECT_KINDS[type].plural}`;
      assert.ok(CONSOLE_ROUTES.includes(list), list);
      assert.ok(CONSOLE_ROUTES.includes(`${list}/:id`), `${list}/:id`);
    });
  }
});
