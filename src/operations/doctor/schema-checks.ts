import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from '../../base/release.ts';
import type { Db } from '../../db/db.ts';
import { type Catalogue, readCatalogue, respellView } from './catalogue.store.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

const CHECK = 'schema';
/** Findings of one kind: a schema of another program would have hundreds. */
const MAX_FINDINGS = 20;

/** Compares the schema with the one that the migrations of this release make. Only if all of them are applied. */
export async function examineSchemaCatalogue(db: Db): Promise<Finding[]> {
  const expected = JSON.parse(readFileSync(join(MIGRATIONS, 'catalogue.json'), 'utf8')) as Catalogue;
  const found = await readCatalogue(db.query);
  const findings: Finding[] = [];
  for (const [name, definition] of Object.entries(expected)) {
    const [kind = ''] = name.split(' ');
    const actual = found[name];
    if (actual === undefined) {
      // Without its table, all that belongs to it is gone. That is one finding, not thirty.
      const table = /^(?:column|constraint|trigger) (\w+)\./.exec(name)?.[1];
      if (table !== undefined && found[`table ${table}`] === undefined) continue;
      findings.push(fault(CHECK, `the ${name} is missing`, adviceFor(kind)));
    } else if (actual !== definition && !(kind === 'view' && (await isSameView(db, definition, actual)))) {
      findings.push(differs(kind, name, actual, definition));
    }
  }
  for (const name of Object.keys(found).filter((one) => expected[one] === undefined)) {
    const [kind = '', rest = ''] = name.split(' ');
    // Tables, indexes, functions and views of other programs do no harm to ours.
    const [table = ''] = rest.split('.');
    if (expected[`table ${table}`] === undefined) continue;
    if (kind === 'disabled') {
      const advice = `Run: alter table ${rest} enable trigger all`;
      findings.push(fault(CHECK, `the foreign keys of the table ${rest} are disabled`, advice));
    } else {
      findings.push(
        warning(CHECK, `the ${name} is not part of this release`, 'Remove it, unless you know what it is for.'),
      );
    }
  }
  if (findings.length === 0) return [ok(CHECK, `all ${Object.keys(expected).length} parts of the schema are in place`)];
  const rest = findings.length - MAX_FINDINGS;
  const more = fault(CHECK, `and ${rest} more differences`, adviceFor(''));
  return [...findings.slice(0, MAX_FINDINGS), ...(rest > 0 ? [more] : [])];
}

function differs(kind: string, name: string, actual: string, definition: string): Finding {
  if (actual === `${definition} (disabled)`) {
    const [table = '', trigger = ''] = name.slice('trigger '.length).split('.');
    return fault(CHECK, `the ${name} is disabled`, `Run: alter table ${table} enable trigger ${trigger}`);
  }
  if (actual === `${definition} (invalid)`) {
    const advice = `Run: reindex index ${name.slice('index '.length)}`;
    return fault(CHECK, `the ${name} was not built to the end, so nothing uses it`, advice);
  }
  const text =
    kind === 'view' || kind === 'function' ? 'is not that of this release' : `is "${actual}", not "${definition}"`;
  return fault(CHECK, `the ${name} ${text}`, adviceFor(kind));
}

function adviceFor(kind: string): string {
  if (kind === 'index') return 'Create it as migrations/schema.sql shows: without it, requests get slower and slower.';
  return 'Stop the servers and restore a backup, or change it to what migrations/schema.sql shows.';
}

class Rollback extends Error {}

async function isSameView(db: Db, definition: string, actual: string): Promise<boolean> {
  let isSame = false;
  await db
    .transaction(async (query) => {
      isSame = (await respellView(query, definition)) === actual;
      throw new Rollback();
    })
    // What cannot be created here is not what is there.
    .catch(() => undefined);
  return isSame;
}
