import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { membersOf, objectOf } from '../../src/credentials/json-members.ts';
import { fc } from '../support/checks/properties.ts';

describe('Spec text', () => {
  it('A JSON object is split into its members and reassembled without change', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const text = JSON.stringify(object);
        const members = membersOf(text);
        assert.deepEqual(
          members.map((one) => one.key),
          Object.keys(object),
        );
        assert.equal(objectOf(members), text);
        // White space between members is removed; everything else stays.
        const spaced = membersOf(JSON.stringify(object, null, 2));
        assert.deepEqual(JSON.parse(objectOf(spaced)), JSON.parse(text));
      }),
    );
  });
});
