import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { type Cli, cliAs, openCliProcess, type Said } from '../support/server/cli.ts';
import { CERTIFICATE } from '../support/services/kubernetes.ts';
import { applicationId, openMarketplace, type TestMarketplace } from '../support/world/marketplace.ts';

const PAGES = 'console/src/pages';
/** A whole literal. The command of the page "Why?" is put together, and the test of the search runs it. */
const COMMAND = /(["'`])(atrium (?!can )(?:(?!\1).)+)\1/gs;

/** What a page knows, and what is left to whom the page shows the command. The rest of a command stays as it is. */
const VALUES: readonly (readonly [RegExp, string])[] = [
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: as the pages have them
  // A literal within a literal ends the outer one.
  [/\$\{org === undefined \? '--site' : $/, '--org acme'],
  [/\$\{org\}/g, 'acme'],
  [/\$\{login\}/g, 'dan'],
  [/\$\{team\.name\}/g, 'operators'],
  [/\$\{name\}/g, 'prod'],
  [/\$\{image\}/g, '--image registry.example.com/atrium'],
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as the pages have them
  [/\bORG\b/g, 'globex'],
  [/\bfollow add NAME\b/g, 'follow add cat'],
  [/\bUSER\b/g, 'eve'],
  [/\bADDRESS\b/g, 'fresh@example.com'],
  [/\bURL\b/g, 'https://hooks.example.com/atrium'],
  [/\bUID\b/g, '5f0c2a10-0000-4000-8000-0000000000aa'],
  [/\bRELATION OBJECT\b/g, 'view_members org:acme'],
  [/\bTEAM\b/g, 'operators'],
  [/\bTEXT\b/g, 'INC-1234'],
  [/\bAPI-SERVER\b/g, 'prod.example.com'],
  [/\bFILE\b/g, 'payload.json'],
  [/\bSECRET\b/g, 'secret.txt'],
  // The rest is for kubectl.
  [/ \\\\\\n {2}\| kubectl .*| *\\n(?:kubectl) .*/g, ''],
  [/ \\\\\\n */g, ' '],
];
/** Who runs a command that is not one of an administrator of acme. */
const CALLERS: readonly (readonly [RegExp, string])[] = [
  [/^(user|marketplace|org) /, 'root'],
  [/^request /, 'dan'],
];
/** It waits for a browser; its own tests are in test/cli/device-login.test.ts. */
const WAITS = /^login /;
/** They run where the server is. */
const IS_OF_SERVER = /^(installer create|marketplace secret) /;

describeLong('The commands that the pages of the console show', () => {
  let market: TestMarketplace;
  const people = new Map<string, Cli>();
  const as = (name: string) => {
    const cli = people.get(name) ?? cliAs(market, name);
    people.set(name, cli);
    return cli;
  };
  before(async () => {
    market = await openMarketplace();
    const payload = { applicationId: applicationId('shown'), eventType: 'PUT', provisioningState: 'Succeeded' };
    const item = {
      chart: { name: 'redis', version: '1.2.3', sourceRef: { name: 'charts' }, releaseName: 'a', namespace: 'data' },
    };
    const files = {
      'payload.json': JSON.stringify(payload),
      'secret.txt': market.demo.secrets.cloudB,
      'ca.crt': CERTIFICATE,
      'aws.yaml': 'name: backups\ntype: AWS\n',
      'order.yaml': JSON.stringify({ spec: { items: [item] } }),
    };
    // The guardrail that a page proposes wants two people who can edit roles.
    const { Owners } = market.world.orgs.acme?.teams ?? assert.fail();
    assert.equal((await market.as('ann')('PUT', `/teams/${Owners}/members/bob`)).status, 204);
    mkdirSync(market.dataDir, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(market.dataDir, name), text);
  });
  after(() => market.close());

  it('Each of them works as it stands, with names in the places of the capitals', { timeout: 60_000 }, async () => {
    const shown = commands().filter((line) => !WAITS.test(line));
    assert.ok(shown.length > 20, `${shown.length} commands`);
    const failed: string[] = [];
    for (const [index, line] of shown.entries()) {
      const { code, stdout, stderr } = await run(line.replace(/\bNAME\b/g, `fresh-${index}`));
      if (code !== 0) failed.push(`atrium ${line}\n${stdout}${stderr}`);
    }
    assert.deepEqual(failed, []);
  });

  async function run(line: string): Promise<Said> {
    const options = { cwd: market.dataDir };
    if (IS_OF_SERVER.test(line)) {
      const secret = line.startsWith('marketplace secret') ? ' --secret-file secret.txt' : '';
      return await openCliProcess(market.settings)(line + secret, options);
    }
    const name = CALLERS.find(([pattern]) => pattern.test(line))?.[1] ?? 'ann';
    return await as(name)(words(line), options);
  }
});

/** Each command once, as a person would type it. */
function commands(): readonly string[] {
  const found = new Set<string>();
  for (const file of readdirSync(PAGES, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.tsx')) continue;
    for (const [, , text = ''] of readFileSync(join(PAGES, file), 'utf8').matchAll(COMMAND)) {
      const line = VALUES.reduce((one, [pattern, value]) => one.replace(pattern, value), text);
      // biome-ignore lint/suspicious/noTemplateCurlyInString: what no value stands for
      assert.ok(!line.includes('${') || line.includes('${location.origin}'), `${file}: ${line}`);
      found.add(line.replace(/^atrium /, ''));
    }
  }
  return [...found].sort();
}

/** As a shell splits it. */
function words(line: string): readonly string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}
