import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/progress.ts';
import { createRandom, SEED } from '../support/random.ts';
import { type Mutant, mutantsOf } from './mutation/mutants.ts';

const LIMIT_MS = 120_000;
const WANTED = 0.85;

interface Area {
  readonly sources: readonly string[];
  /** The cheapest tests that are meant to notice a change there. */
  readonly tests: readonly string[];
}

const AREAS: Readonly<Record<string, Area>> = {
  vault: { sources: ['src/vault/*.ts'], tests: ['test/vault/*.test.ts'] },
  tokens: {
    sources: ['src/tokens/*.ts', 'src/identity/{token-text,token-issuer,token-request,scopes}.ts'],
    tests: ['test/api/tokens/*.test.ts', 'test/identity/token-text.test.ts'],
  },
  authorization: {
    sources: ['src/authz/{judge,objects,escalation,answer-cache,graphs}.ts'],
    tests: ['test/authz/graphs.test.ts', 'test/api/authz/{allowed-single,allowed-batch,escalation}.test.ts'],
  },
  engine: {
    sources: ['src/rebac/tables/*.ts', 'src/rebac/{engine,walk,query,graph,frames,steps,caller,plan}.ts'],
    tests: ['test/rebac/{engine,steps,rules,fuzz}.test.ts'],
  },
};

/** Changes that no test can notice, each with the reason. Keyed by what the report prints. */
const EQUIVALENT: Readonly<Record<string, string>> = {};

/** MUTATION_AREAS=vault,tokens tries only these. */
const CHOSEN = process.env.MUTATION_AREAS?.split(',') ?? Object.keys(AREAS);

describe('Mutants', () => {
  for (const name of CHOSEN) {
    const { sources, tests } = AREAS[name] ?? assert.fail(`no area is called ${name}`);
    it(`The tests of ${name} notice at least 85 % of ${COUNTS.mutants} changes of its code, with seed ${SEED}`, async () => {
      const files = tests.flatMap((pattern) => globSync(pattern));
      const all = sources
        .flatMap((pattern) => globSync(pattern))
        .sort()
        .flatMap(mutantsOf);
      const chosen = sample(all, COUNTS.mutants);
      const [first] = chosen;
      // Through the same hook, so that a failure of the hook itself is not taken for a noticed change.
      const unchanged = { file: first?.file ?? '', start: 0, end: 0, text: '', what: '' };
      assert.equal(await run(files, unchanged), 'survived', `the tests of ${name} fail without any change`);
      const survivors: string[] = [];
      let counted = 0;
      for (const mutant of chosen) {
        if (EQUIVALENT[mutant.what] !== undefined) continue;
        const outcome = await run(files, mutant);
        if (outcome === 'invalid') continue;
        counted += 1;
        if (outcome === 'survived') survivors.push(mutant.what);
        progress(`${name}: ${counted} of ${chosen.length}, ${survivors.length} survived`);
      }
      const score = 1 - survivors.length / counted;
      progress(`${name}: ${(score * 100).toFixed(1)} % of ${counted} changes were noticed`);
      for (const survivor of survivors) progress(`survived: ${survivor}`);
      assert.ok(score >= WANTED, `${(score * 100).toFixed(1)} %:\n${survivors.join('\n')}`);
    });
  }
});

function sample(all: readonly Mutant[], count: number): Mutant[] {
  const random = createRandom();
  const left = [...all];
  return Array.from({ length: Math.min(count, all.length) }, () => left.splice(random.below(left.length), 1)).flat();
}

/** Runs the tests with one change. A run that takes too long has noticed it. */
function run(files: readonly string[], mutant: Mutant): Promise<'noticed' | 'survived' | 'invalid'> {
  const flags = ['--import', './test/long/mutation/hook.ts', '--test', '--test-isolation=none'];
  const child = spawn(process.execPath, [...flags, ...files], {
    env: { ...process.env, MUTANT: JSON.stringify(mutant), TEST_SIZE: 'everyday', NODE_TEST_CONTEXT: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk).slice(-20_000);
      // The first failure is enough.
      if (/^\s*(not ok|✖)/m.test(output)) child.kill('SIGKILL');
    });
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer);
      if (/SyntaxError.*(strip|TypeScript|Unexpected|Invalid)/.test(output)) resolve('invalid');
      else resolve(code === 0 ? 'survived' : 'noticed');
    });
  });
}
