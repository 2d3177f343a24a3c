import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { matchGolden } from '../support/checks/golden.ts';
import { itLong } from '../support/checks/long.ts';
import { type Cli, cliAs, type Said } from '../support/server/cli.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { ASSIGNMENT_LINES } from './assignment-lines.ts';
import { INVITATION_LINES } from './invitation-lines.ts';
import { ORGANIZATION_FILE_LINES } from './organization-file-lines.ts';
import { ORGANIZATION_LINES } from './organization-lines.ts';
import { REQUEST_LINES } from './request-lines.ts';
import { REVIEW_LINES } from './review-lines.ts';
import { SIGN_IN_LINES } from './sign-in-lines.ts';
import { GUARDRAILS, type Line, STORIES as OTHER_STORIES, POLICY, ROLES } from './story-lines.ts';
import { WEBHOOK_LINES } from './webhook-lines.ts';

const STORIES = {
  ...OTHER_STORIES,
  assignments: ASSIGNMENT_LINES,
  invitations: INVITATION_LINES,
  'organizations and members': ORGANIZATION_LINES,
  'the organization as code': ORGANIZATION_FILE_LINES,
  'access requests': REQUEST_LINES,
  'second factors and providers': SIGN_IN_LINES,
  'access reviews': REVIEW_LINES,
  webhooks: WEBHOOK_LINES,
};

describe('CLI sessions', () => {
  for (const [title, lines] of Object.entries(STORIES)) {
    it(`The CLI session "${title}" matches its golden transcript`, async () => {
      const atrium = await openTestServer();
      let transcript = '';
      for await (const { heading, said } of play(atrium, lines)) {
        const { code, stdout, stderr } = said;
        transcript += `${heading}\n${neutral(stdout + stderr, atrium.url)}${code === 0 ? '' : `[exit ${code}]\n`}\n`;
      }
      matchGolden(goldenOf(title), transcript);
    });
  }

  // Most API tests run only on PostgreSQL, and these lines use every store.
  itLong('Every line of the CLI sessions exits on PGlite as in its golden transcript', async () => {
    const codes: string[] = [];
    for (const lines of Object.values(STORIES)) {
      const atrium = await openTestServer({ driver: 'pglite' });
      for await (const { heading, said } of play(atrium, lines)) codes.push(`${said.code} ${heading}`);
    }
    const expected = Object.keys(STORIES).flatMap((title) =>
      [...readFileSync(goldenOf(title), 'utf8').matchAll(/^(\w+ \$ atrium .*)\n(?:(?!\w+ \$ ).*\n)*/gm)].map(
        ([block, heading]) => `${/^\[exit (\d)\]$/m.exec(block)?.[1] ?? 0} ${heading}`,
      ),
    );
    assert.deepEqual(codes, expected);
  });
});

/** Runs the lines one after the other, and closes the server at the end. */
async function* play(atrium: TestServer, lines: readonly Line[]): AsyncGenerator<{ heading: string; said: Said }> {
  const folder = atrium.dataDir;
  writeFileSync(join(folder, 'roles.yaml'), ROLES);
  writeFileSync(join(folder, 'guarded.yaml'), `${ROLES}${GUARDRAILS}`);
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
  writeFileSync(join(folder, 'broken.yaml'), 'roles:\n  - name: [x\n');
  writeFileSync(join(folder, 'broken.json'), '{"roles": [}');
  writeFileSync(join(folder, 'wrong.yaml'), ROLES.replace('view audit log', 'view everything'));
  const people = new Map<string, Cli>();
  let request = '';
  try {
    for (const [who, told, input] of lines) {
      // The IDs of access requests are random.
      const line = told.replace('LATEST', request);
      const cli = people.get(who) ?? cliAs(atrium, who);
      people.set(who, cli);
      const piped = input === undefined ? '' : ` <<< ${JSON.stringify(input)}`;
      const said = await cli(line, { cwd: folder, ...(input !== undefined && { input }) });
      request = /^req_\d+/m.exec(said.stdout)?.[0] ?? request;
      yield { heading: `${who} $ atrium ${told}${piped}`, said };
    }
  } finally {
    await atrium.close();
  }
}

function goldenOf(title: string): string {
  return `test/cli/stories/${title.replaceAll(' ', '-')}.txt`;
}

/** Replaces what differs from run to run with a constant of the same width. */
function neutral(text: string, url: string): string {
  return (
    text
      .replaceAll(url, 'http://127.0.0.1:3000')
      .replace(/atr_\w+/g, 'atr_TOKEN')
      .replace(/whsec_[\w+/=]+/g, 'whsec_SECRET')
      .replace(/after \d+ ms/g, 'after 5 ms')
      .replace(/http:\/\/[\w.:]+\/invitations\/[\w-]{32}/g, 'http://HOST/invitations/CODE')
      // Their IDs are random, and so is the width of the column.
      .replace(/\breq_\d+( {2,})?/g, (_, gap = '') => `req_12${gap && '  '}`)
      .replace(/^ID +STATE/gm, 'ID      STATE')
      .replace(/…\w{8}\b/g, '…LASTEIGH')
      .replace(/\b[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\b/g, (uid) =>
        uid.startsWith('0b1c7c0e') ? uid : uid.replace(/\w/g, 'x'),
      )
      .replace(/\b20(2\d|3[0-5])-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d{3})?Z/g, '20YY-MM-DD$2hh:mm:ssZ')
      // The demo world is copied, and may be days old.
      .replace(/ \d+(s|m|h|d|mo)$/gm, ' 1s')
  );
}
