import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { validatorOf, writerOf } from '../../src/http/schema-compiler.ts';

describe('Compiling schemas', () => {
  it('A second schema with the same JSON is not compiled again', () => {
    const validate = validatorOf(counted(), 'body');
    validate({ name: 'ann' });
    assert.ok(reads > 1, 'read for its JSON, and to compile it');
    const again = validatorOf(counted(), 'body');
    again({ name: 'ben' });
    assert.equal(reads, 1, 'only for its JSON');
  });

  it('Validators of equal schemas keep their errors apart', () => {
    const [one, other] = [validatorOf(named(), 'body'), validatorOf(named(), 'body')];
    assert.equal(one({ name: 'a very long name' }), false);
    assert.equal(other({ name: 'ann' }), true);
    assert.equal(one.errors?.[0]?.message, 'must NOT have more than 3 characters');
    assert.equal(other.errors, null);
  });

  it('A body is not converted although an equal schema of a query is', () => {
    const schema = () => Type.Object({ limit: Type.Integer() });
    assert.equal(validatorOf(schema(), 'querystring')({ limit: '7' }), true);
    assert.equal(validatorOf(schema(), 'body')({ limit: '7' }), false);
  });

  it('Schemas that differ in one keyword are serialized differently', () => {
    const value = { id: 1, name: 'ann' };
    assert.equal(writerOf(Type.Object({ id: Type.Integer() }))(value), '{"id":1}');
    assert.equal(writerOf(named())(value), '{"name":"ann"}');
  });
});

function named() {
  return Type.Object({ name: Type.String({ maxLength: 3 }) });
}

let reads = 0;

/** A schema that counts how often its type is read. */
function counted(): object {
  reads = 0;
  return {
    properties: { name: { type: 'string' } },
    get type() {
      reads += 1;
      return 'object';
    },
  };
}
