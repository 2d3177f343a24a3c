import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, it } from 'node:test';
import { progress } from '../support/checks/progress.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { AREAS } from './mutation/areas.ts';
import { reaches } from './mutation/coverage.ts';
import { EQUIVALENT } from './mutation/equivalent.ts';
import { type Mutant, mutantsIn } from './mutation/mutants.ts';
import { attempt, confirm, measure, type Witness } from './mutation/trial.ts';

const WANTED = 0.85;
/** A test that fails for another reason would count as one that notices. So they run unchanged now and then. */
const CHECK_EVERY = 100;

/** MUTATION_AREAS=vault,tokens tries only these, MUTATION_ONLY=src/vault/ring only changes whose line contains that. */
const CHOSEN = process.env.MUTATION_AREAS?.split(',') ?? Object.keys(AREAS).filter((name) => AREAS[name]?.count);
const ONLY = process.env.MUTATION_ONLY ?? '';

describe('Mutants', () => {
  for (const name of CHOSEN) {
    const area = AREAS[name] ?? assert.fail(`no area is called ${name}`);
    it(`The tests of ${name} notice at least 85 % of up to ${area.count} changes, with seed ${SEED}`, async () => {
      const chosen = sample(mutantsIn(area.sources), area.count).filter(isTried);
      const witnesses = await measureAll(area.tests.flatMap((pattern) => globSync(pattern)));
      const survivors: string[] = [];
      for (const [index, mutant] of chosen.entries()) {
        const noticed = await tryOut(mutant, witnesses);
        const where = `${index + 1}/${chosen.length} ${mutant.what} (line ${mutant.line})`;
        progress(noticed === undefined ? `SURVIVED ${where}` : `noticed ${where}\n    ${noticed}`);
        if (noticed === undefined) survivors.push(`${mutant.what} (line ${mutant.line})`);
        const isLast = index === chosen.length - 1;
        if (isLast || index % CHECK_EVERY === CHECK_EVERY - 1) for (const witness of witnesses) await confirm(witness);
      }
      const noticed = chosen.length - survivors.length;
      const score = noticed / chosen.length;
      const result = `${name}: ${noticed} of ${chosen.length} changes were noticed, ${(score * 100).toFixed(1)} %`;
      progress(result);
      assert.ok(score >= WANTED, `${result}\n${survivors.join('\n')}`);
    });
  }
});

function isTried({ what }: Mutant): boolean {
  return EQUIVALENT[what] === undefined && what.includes(ONLY);
}

function sample(all: readonly Mutant[], count: number): Mutant[] {
  const random = createRandom();
  const left = [...all];
  return Array.from({ length: Math.min(count, all.length) }, () => left.splice(random.below(left.length), 1)).flat();
}

async function measureAll(files: readonly string[]): Promise<Witness[]> {
  const found: Witness[] = [];
  for (const file of files) {
    const witness = await measure(file);
    progress(`unchanged: ${witness.cpuSeconds.toFixed(1)} s of processor time, ${file}`);
    found.push(witness);
  }
  return found;
}

/** The first failure, or undefined if every test that reaches the changed code passes. */
async function tryOut(mutant: Mutant, witnesses: readonly Witness[]): Promise<string | undefined> {
  const reaching = witnesses.filter(({ coverage }) => reaches(coverage, mutant.file, mutant.start));
  // Cheap ones first.
  for (const witness of reaching.sort((one, other) => one.cpuSeconds - other.cpuSeconds)) {
    const outcome = await attempt(witness, mutant);
    if (outcome.kind !== 'passed') return `${witness.file}: ${outcome.kind}: ${outcome.reason}`;
  }
  return undefined;
}
