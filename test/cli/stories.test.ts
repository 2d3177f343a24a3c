import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Cli, cliAs, type Said } from '../support/cli.ts';
import { matchGolden } from '../support/golden.ts';
import { openTestServer, type TestServer } from '../support/server.ts';

type Line = readonly [who: string, line: string, input?: string];

const ROLES = `apiVersion: atrium/v1
kind: Roles
organization: acme
roles:
  - name: cluster-operator
    description: Sees clusters and connects to them.
    permissions:
      cluster_mgmt: [view clusters, connect to clusters, reconfigure clusters]
    teams: [operators]
  - name: auditor
    permissions:
      org_mgmt: [view audit log]
`;

const GUARDRAILS = `guardrails:
  - name: prod is closed
    description: She has left.
    never: {users: [eve], relation: can_connect, object: {type: cluster, name: prod}}
  - name: somebody owns
    at_least: {count: 1, relation: can_delete}
`;

const POLICY = `organization: acme
tests:
  - user: dan
    can: connect
    cannot: [edit, remove]
    object: cluster:prod
  - name: eve is out
    user: eve
    cannot: view
    object: cluster:prod
  - {user: cat, can: edit, object: org:acme}
  - {user: cat, cannot: edit, object: cluster:prd}
  - who_can: {relation: delete, object: org:acme}
    equals: [ann, root]
  - who_can: {relation: edit, object: cluster:prod}
    equals: [ann, dan]
`;

const ORDER = `spec:
  items:
    - chart:
        name: redis
        version: 1.2.3
        sourceRef: {name: charts}
        releaseName: cache
        namespace: data
        values: {replicas: 2}
`;

/** Input and output: each story runs on its own demo world, and its golden file reads like a session. */
const STORIES: Readonly<Record<string, readonly Line[]>> = {
  'who may do what': [
    ['ann', 'can ann connect cluster:prod'],
    ['ann', 'can ann connect cluster:prod --why'],
    ['ann', 'can dan can_connect cluster:prod --why'],
    ['ann', 'can cat edit cluster:prod --why'],
    ['ann', 'can dan edit cluster:prod --why'],
    ['dan', 'can me edit cluster:prod --why'],
    ['ann', 'can cat delete org:acme --why'],
    ['ann', 'can dan connect cluster:prod --paths'],
    ['ann', 'can me delete org:acme'],
    ['ann', 'can bob view role:cluster-operator'],
    ['ann', 'can bob view team:operators'],
    ['ann', 'can bob add_member team:operators'],
    ['ann', 'can ann view robot:ci'],
    ['ann', 'can ann view contract:acme'],
    ['dan', 'can me connect cluster:prod --json'],
    ['ann', 'who-can connect cluster:prod'],
    ['ann', 'who-can connect cluster:prod --reason'],
    ['ann', 'list-objects bob connect cluster'],
    ['ann', 'search op'],
    ['dan', 'search op --types teams,roles --json'],
    ['ann', 'search nothing-like-this'],
    ['ann', 'search a --types things'],
    ['eve', 'search a --org acme'],
    ['ann', 'list-objects dan edit cluster'],
    ['dan', 'list-objects me view cluster -o name'],
    ['dan', 'list-objects ann view cluster'],
    ['ann', 'list-objects bob conect cluster'],
    ['ann', 'list-objects bob connect cluster:prod'],
    ['ann', 'access dan'],
    ['ann', 'access ann --type cluster'],
    ['dan', 'access me --json teams,roles'],
    ['ann', 'access eve'],
    ['dan', 'access ann'],
    ['ann', 'access bob --type thing'],
    ['ann', 'matrix clusters'],
    ['ann', 'matrix cluster --relation connect --differences'],
    ['ann', 'matrix clusters --user bob --user cat --relation edit -o csv'],
    ['ann', 'matrix teams --team operators --json relations,cells'],
    ['ann', 'matrix robots --user bob --user ann --differences'],
    ['ann', 'matrix clusters --relation conect'],
    ['ann', 'matrix clusters --user nobody'],
    ['dan', 'matrix clusters'],
    ['ann', 'who-can delete org:acme --yaml'],
    ['ann', 'can ann conect cluster:prod'],
    ['ann', 'can ann connect cluster:prd'],
    ['ann', 'can nobody connect cluster:prod'],
    ['ann', 'can anna connect cluster:prod'],
    ['ann', 'can ann connect cluster:prod --org acne'],
    ['dan', 'can ann connect cluster:prod'],
    ['eve', 'who-can connect cluster:prod'],
    ['ann', 'can dan connect cluster:prod --at 0m --why'],
    ['dan', 'can me connect cluster:prod --at 0m'],
    ['cat', 'can dan connect cluster:prod --at 0m'],
    ['ann', 'can dan connect cluster:prod --at lately'],
    ['ann', 'can dan connect cluster:prod --at 0m --watch'],
    ['ann', 'who-can connect cluster:prod --at 0m'],
    ['ann', 'who-can connect cluster:prod --at 2020-01-01T00:00:00Z'],
    ['ann', 'role list --at 0m'],
    ['ann', 'role show cluster-operator --at 0m'],
    ['ann', 'role export --at 2020-01-01'],
  ],
  'organizations and members': [
    ['ann', 'org list'],
    ['ann', 'org show'],
    ['ann', 'org overview'],
    ['dan', 'org overview acme'],
    ['ann', 'org create initech --full-name "Initech GmbH" --visibility private'],
    ['ann', 'org edit initech --description "Makes printers"'],
    ['ann', 'org edit initech'],
    ['ann', 'org members acme'],
    ['ann', 'org members --team editors --search BAKER --sort joined'],
    ['ann', 'org members --team nobodies'],
    ['ann', 'org add-member eve --team Editors --preview'],
    ['ann', 'org add-member eve --team Editors'],
    ['ann', 'can eve edit cluster:prod'],
    ['ann', 'org remove-member ann --preview'],
    ['dan', 'org remove-member dan --preview -o name'],
    ['ann', 'org remove-member eve --yes'],
    ['ann', 'org remove-member ann --yes'],
    ['ann', 'org delete initech'],
    ['ann', 'org delete initech --yes'],
    ['ann', 'org show initech'],
    ['ann', 'org create acme'],
    ['bob', 'org delete acme --yes'],
    ['eve', 'org show acme'],
    ['root', 'org create hooli --owner bob'],
    ['bob', 'org remove-member bob --org hooli --orphan --yes'],
    ['root', 'org list'],
    ['bob', 'org edit acme --name acme-inc'],
    ['bob', 'org edit hooli --name hooli-inc'],
    ['eve', 'org create hooli'],
    ['root', 'org reserved-names'],
    ['root', 'org release-name hooli'],
    ['root', 'org release-name hooli --yes'],
    ['root', 'org release-name hooli --yes'],
    ['ann', 'org reserved-names'],
  ],
  teams: [
    ['ann', 'team list'],
    ['ann', 'team create auditors --permission none --description "Looks, touches nothing"'],
    ['ann', 'team show auditors --json'],
    ['ann', 'team create auditors --preview'],
    ['ann', 'team edit operators --permission read --preview'],
    ['ann', 'team edit auditors --name inspectors --permission read'],
    ['ann', 'team add inspectors dan cat --preview'],
    ['ann', 'team add inspectors dan cat'],
    ['ann', 'team add inspectors bob nobody'],
    ['ann', 'team members inspectors'],
    ['ann', 'team grant inspectors cluster-operator'],
    ['ann', 'team roles inspectors'],
    ['ann', 'team add inspectors dan --expires 7d'],
    ['ann', 'team grant inspectors cluster-operator --expires 12h'],
    ['ann', 'team members inspectors'],
    ['ann', 'team roles inspectors'],
    ['ann', 'role who cluster-operator'],
    ['ann', 'org add-member dan --team inspectors --expires 30d'],
    ['ann', 'team add inspectors dan --no-expiry'],
    ['ann', 'team members inspectors'],
    ['ann', 'team add inspectors dan --no-expiry --expires 7d'],
    ['ann', 'team add inspectors dan --expires soon'],
    ['ann', 'team add inspectors dan --expires 2020-01-31'],
    ['ann', 'team add Owners ann --expires 7d'],
    ['ann', 'team grant inspectors cluster-operator --preview'],
    ['ann', 'team revoke inspectors cluster-operator --preview'],
    ['ann', 'team revoke inspectors cluster-operator'],
    ['ann', 'team remove operators dan --preview'],
    ['ann', 'team remove inspectors cat'],
    ['ann', 'team delete operators --preview'],
    ['cat', 'team delete operators --preview'],
    ['ann', 'team delete inspectors --yes'],
    ['ann', 'team delete Owners --yes'],
    ['ann', 'team remove Owners ann'],
    ['ann', 'team show inspector'],
    ['ann', 'team show operatrs'],
    ['cat', 'team create mine'],
  ],
  roles: [
    ['ann', 'role list'],
    ['ann', 'role show cluster-operator'],
    ['ann', 'role who cluster-operator'],
    ['ann', 'role create auditor --permission "view audit log" --team operators --preview'],
    ['ann', 'role create auditor --permission "view audit log" --permission "org_mgmt:view members" --team operators'],
    ['ann', 'role edit auditor --add "view teams" --remove "view members" --remove-team operators --name inspector'],
    ['ann', 'role edit cluster-operator --remove "connect to clusters" --add "edit" --preview'],
    ['ann', 'role edit cluster-operator --preview'],
    ['ann', 'role delete cluster-operator --preview --json'],
    ['ann', 'role create x --permission "veiw clusters"'],
    ['ann', 'role create auditor2 --team nobodies'],
    ['ann', 'role delete inspector --yes'],
    ['cat', 'role delete cluster-operator --yes'],
  ],
  'roles as code': [
    ['ann', 'role export'],
    ['ann', 'role apply -f roles.yaml --dry-run'],
    ['ann', 'role apply -f roles.yaml --preview'],
    ['ann', 'role apply -f roles.yaml'],
    ['ann', 'role apply -f roles.yaml'],
    ['ann', 'role create extra'],
    ['ann', 'role apply -f - --dry-run', ROLES],
    ['ann', 'role apply -f roles.yaml --prune'],
    ['ann', 'role apply -f roles.yaml --prune --yes --json'],
    ['ann', 'role apply -f broken.yaml'],
    ['ann', 'role apply -f broken.json'],
    ['ann', 'role apply -f wrong.yaml'],
    ['ann', 'role apply -f nowhere.yaml'],
    ['ann', 'role apply'],
    ['cat', 'role apply -f roles.yaml --prune --yes'],
    ['ann', 'role list'],
  ],
  guardrails: [
    ['ann', 'guardrail list'],
    ['ann', 'guardrail create "prod is closed" --never --user eve --relation connect --object cluster:prod'],
    ['ann', 'guardrail create "two editors" --at-least 2 --relation edit_roles'],
    ['ann', 'guardrail create "two editors" --at-least 2 --relation edit_roles --dry-run'],
    ['ann', 'guardrail create "two editors" --at-least 2 --relation edit_roles --watch-only'],
    ['ann', 'guardrail create nothing --relation connect'],
    ['ann', 'guardrail create nothing --never --user eve'],
    ['ann', 'guardrail create nothing --never --user eve --relation fly'],
    ['ann', 'guardrail list'],
    ['ann', 'guardrail get "Two Editors"'],
    ['ann', 'guardrail get two'],
    ['ann', 'team add Viewers eve'],
    ['ann', 'role apply -f guarded.yaml'],
    ['ann', 'role apply -f guarded.yaml --dry-run'],
    ['ann', 'guardrail delete "two editors"'],
    ['ann', 'guardrail delete "two editors" --yes'],
    ['cat', 'guardrail delete "prod is closed" --yes'],
    ['ann', 'test policy.yaml'],
    ['ann', 'test policy.yaml --quiet'],
    ['ann', 'test policy.yaml -o json'],
    ['ann', 'test -', '- {user: dan, can: connect, object: cluster:prod}\n'],
    ['ann', 'test -', '- {user: dan, may: connect, object: cluster:prod}\n'],
    ['dan', 'test policy.yaml'],
  ],
  resources: [
    ['ann', 'cluster list'],
    ['ann', 'cluster list --all'],
    ['ann', 'cluster list --sort nodes --search a --phase Registered'],
    ['ann', 'cluster list --all --provider gke'],
    ['ann', 'cluster list --phase Sleepy'],
    ['ann', 'cluster import prod2 --uid 0b1c7c0e-3f5c-4e8e-9b39-8a7d2a9a6c11 --provider GKE --nodes 3'],
    ['ann', 'cluster import prod3'],
    ['ann', 'cluster edit prod2 --display-name "Second" --nodes 4'],
    ['ann', 'cluster edit prod2 --nodes many'],
    ['ann', 'cluster heartbeat prod2 --phase Active --nodes 4'],
    ['ann', 'cluster remove prod2'],
    ['ann', 'cluster remove prod2 --yes'],
    ['cat', 'cluster remove prod --yes'],
    ['ann', 'contract list'],
    ['ann', 'contract create enterprise --product platform --start 2026-01-01 --end 2036-01-01 --quota nodes=100'],
    ['ann', 'contract edit enterprise --quota nodes=200 --end never'],
    ['ann', 'contract revoke enterprise --yes'],
    ['ann', 'contract delete enterprise --yes'],
    ['ann', 'robot list'],
    ['ann', 'robot create deployer --description "Rolls out releases"'],
    ['ann', 'robot token create deployer pipeline --scope read:organization --expires 2036-01-01'],
    ['ann', 'robot token list deployer'],
    ['ann', 'robot token delete deployer pipeline --yes'],
    ['ann', 'robot edit deployer --name roller'],
    ['ann', 'robot delete roller --yes'],
  ],
  'your own account': [
    ['ann', 'whoami'],
    ['ann', 'profile edit --full-name "Ann Miller" --location Bern --language de-CH'],
    ['ann', 'profile edit --website nonsense'],
    ['ann', 'profile edit'],
    ['ann', 'profile show'],
    ['ann', 'profile password --stdin', 'a guess\nanother password\n'],
    ['ann', 'profile password --stdin', '\nanother password\n'],
    ['ann', 'session list'],
    ['ann', 'session end 1'],
    ['ann', 'session end'],
    ['ann', 'session end --all --yes'],
    ['root', 'session end --all --user ann --yes'],
    ['ann', 'session list --user bob'],
    ['ann', 'credential list'],
    ['ann', 'credential show ann-aws'],
    ['ann', 'credential add --file -', 'name: exact\ntype: X\nbig: 9007199254740993\nrate: 1.50\n'],
    ['ann', 'credential show exact --json'],
    ['ann', 'credential show exact --yaml'],
    ['ann', 'credential add --file -', '{"name": "exact"}'],
    ['ann', 'credential add --file - --replace', '{"name": "exact", "type": "Y"}'],
    ['ann', 'credential delete exact --yes'],
    ['ann', 'credential add --file -', '[1]'],
    ['ann', 'order list'],
    ['ann', 'order create --file -', ORDER],
    [
      'ann',
      'order create --file -',
      ORDER.replace('cache', 'store').replace('replicas: 2', 'replicas: 9007199254740993'),
    ],
    ['ann', 'order list'],
    ['ann', 'order render cache'],
    ['ann', 'order create --file -', ORDER],
    ['ann', 'order render cache'],
    ['ann', 'order delete store'],
    ['ann', 'order delete store --yes'],
    ['ann', 'order delete stor --yes'],
    ['ann', 'order delete 00000000-0000-0000-0000-000000000000 --yes'],
    ['ann', 'order create --file -', 'spec: {items: []}'],
    ['ann', 'order create'],
    ['ann', 'token create laptop --scope read:user --expires 2036-01-01'],
    ['ann', 'token list'],
    ['ann', 'token delete laptop --yes'],
    ['ann', 'token delete laptop --yes'],
    ['ann', 'email list'],
    ['ann', 'email add ann@work.example'],
    ['ann', 'email add nonsense'],
    ['ann', 'email delete ann@work.example'],
    ['ann', 'email delete ann@example.com'],
    ['ann', 'follow list'],
    ['ann', 'follow add cat'],
    ['ann', 'follow list --followers'],
    ['ann', 'follow remove cat'],
    ['ann', 'follow add nobody'],
  ],
  users: [
    ['root', 'user list --search ann'],
    ['root', 'user create fay fay@example.com --full-name "Fay Fisher" --password-stdin', 'correct horse battery\n'],
    ['root', 'user create fay fay2@example.com'],
    ['root', 'user edit fay --full-name "Fay Miller" --admin yes'],
    ['root', 'user edit fay --admin maybe'],
    ['root', 'user deactivate fay'],
    ['root', 'user activate fay'],
    ['root', 'user delete fay --yes'],
    ['root', 'user show fay'],
    ['ann', 'user show bob'],
    ['ann', 'user list'],
  ],
  audit: [
    ['ann', 'team create auditors'],
    ['ann', 'team delete auditors --yes'],
    ['ann', 'audit --actor ann --limit 2'],
    ['ann', 'audit --action team. --limit 5'],
    ['ann', 'audit --object role:cluster-operator'],
    ['ann', 'audit --since yesterday'],
    ['ann', 'audit --verify'],
    ['cat', 'audit'],
    ['ann', 'audit --site'],
    ['root', 'audit --site --org acme --action team.delete'],
    ['ann', 'audit actions'],
    ['root', 'audit actions --site --org acme'],
    ['ann', 'audit actions --since 7d'],
    ['ann', 'audit actions --mine'],
    ['ann', 'audit action'],
    ['cat', 'audit actions'],
    ['ann', 'audit --mine'],
    ['ann', 'audit --mine --action cluster.'],
    ['bob', 'audit --mine'],
    ['ann', 'audit --mine --site'],
    ['ann', 'audit --mine --org acme'],
    ['ann', 'audit --mine --verify'],
  ],
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
  it('Every line of the CLI sessions exits on PGlite as in its golden transcript', async () => {
    const atrium = await openTestServer({ driver: 'pglite' });
    const lines = Object.values(STORIES).flat();
    const codes: string[] = [];
    for await (const { heading, said } of play(atrium, lines)) codes.push(`${said.code} ${heading}`);
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
  try {
    for (const [who, line, input] of lines) {
      const cli = people.get(who) ?? cliAs(atrium, who);
      people.set(who, cli);
      const piped = input === undefined ? '' : ` <<< ${JSON.stringify(input)}`;
      const said = await cli(line, { cwd: folder, ...(input !== undefined && { input }) });
      yield { heading: `${who} $ atrium ${line}${piped}`, said };
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
      .replace(/…\w{8}\b/g, '…LASTEIGH')
      .replace(/\b[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\b/g, (uid) =>
        uid.startsWith('0b1c7c0e') ? uid : uid.replace(/\w/g, 'x'),
      )
      .replace(/\b20(2\d|3[0-5])-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d{3})?Z/g, '20YY-MM-DD$2hh:mm:ssZ')
      // The demo world is copied, and may be days old.
      .replace(/ \d+(s|m|h|d|mo)$/gm, ' 1s')
  );
}
