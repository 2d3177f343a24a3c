import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/services/ports.ts';
import { allGroups, factsOf } from './facts.ts';
import type { PeerKind } from './peer.ts';
import { FOR_MEMBERS, PERMISSIONS } from './world.ts';

export const cerbos: PeerKind = {
  name: 'cerbos',
  version: '0.51',
  note: `one CheckResources of ${PERMISSIONS.length} over HTTP; roles resolved by the caller`,
  async start(_load, tuples, folder) {
    const facts = factsOf(tuples);
    const rule = (role: string, actions: readonly string[], organization?: string): object => ({
      effect: 'EFFECT_ALLOW',
      roles: [role.replaceAll(':', '_')],
      actions,
      ...(organization && { condition: { match: { expr: `R.attr.organization == "${organization}"` } } }),
    });
    const rules = [
      rule('owner', PERMISSIONS),
      rule('admin', PERMISSIONS),
      rule('member', PERMISSIONS.slice(0, FOR_MEMBERS)),
    ];
    for (const [role, grants] of Map.groupBy(facts.grants, (grant) => grant.role)) {
      rules.push(
        rule(
          role,
          grants.map(({ permission }) => permission),
          grants[0]?.organization,
        ),
      );
    }
    const policies = mkdtempSync(join(folder, 'cerbos-'));
    const [port, grpcPort] = [await freePort(), await freePort()];
    const resourcePolicy = { resource: 'cluster', version: 'default', rules };
    writeFileSync(join(policies, 'cluster.json'), JSON.stringify({ apiVersion: 'api.cerbos.dev/v1', resourcePolicy }));
    const server = spawn(
      join(folder, 'node_modules/.bin/cerbos'),
      [
        'server',
        `--set=server.httpListenAddr=127.0.0.1:${port}`,
        `--set=server.grpcListenAddr=127.0.0.1:${grpcPort}`,
        '--set=storage.driver=disk',
        `--set=storage.disk.directory=${policies}`,
        '--set=telemetry.disabled=true',
        '--log-level=error',
      ],
      { stdio: 'ignore', detached: true },
    );
    await untilReady(server, port);

    return {
      async ask({ user, object }) {
        const organization = facts.organizationOf.get(object) ?? '';
        const roles = allGroups(facts, user).map((name) => name.replaceAll(':', '_'));
        if (facts.members.get(organization)?.has(user)) roles.push('member');
        if (facts.admins.get(organization)?.has(user)) roles.push('admin');
        if (facts.owners.get(object)?.includes(user)) roles.push('owner');
        const response = await fetch(`http://127.0.0.1:${port}/api/check/resources`, {
          method: 'POST',
          body: JSON.stringify({
            principal: { id: user, roles, attr: {} },
            resources: [{ resource: { kind: 'cluster', id: object, attr: { organization } }, actions: PERMISSIONS }],
          }),
        });
        const { results } = (await response.json()) as { results: { actions: Record<string, string> }[] };
        return Object.entries(results[0]?.actions ?? {})
          .filter(([, effect]) => effect === 'EFFECT_ALLOW')
          .map(([name]) => name);
      },
      stop: () => end(server),
    };
  },
};

async function untilReady(server: ChildProcess, port: number): Promise<void> {
  for (let turn = 0; turn < 100; turn++) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`);
    const response = await fetch(`http://127.0.0.1:${port}/_cerbos/health`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  end(server);
  throw new Error('the server did not become ready within 10 s');
}

/** The package starts its binary through its own script, so both are ended as one process group. */
function end(server: ChildProcess): void {
  if (server.pid !== undefined) process.kill(-server.pid);
}
