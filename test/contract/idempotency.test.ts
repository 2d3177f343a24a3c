import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { KEYED } from '../../client/keyed.gen.ts';
import { type Deployment, sharedServer } from '../support/server/shared-server.ts';
import { HAS_KEY } from './routes/route.ts';
import { ROUTES } from './routes/table.ts';

/** Another token for ten minutes changes nothing, and nothing is stored. */
const KUBE_TOKEN = '/api/v1/clusters/:id/kube-token';
/** What creates something under a code that works once: without a caller, there is no place for a key. */
const CREATES_BY_CODE: ReadonlySet<string> = new Set([
  '/api/v1/invitations/:code/accept',
  '/api/v1/user/signup/confirm',
]);
const DEPLOYMENTS: readonly Deployment[] = ['standard', 'hosted', 'marketplace'];

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly headers?: object }>>;
  readonly 'x-errors': readonly number[];
}

describe('Routes with an idempotency key', () => {
  it('Every POST either honors an Idempotency-Key or is known to create nothing', async () => {
    const found = new Set<string>();
    for (const deployment of DEPLOYMENTS) {
      const { instance } = await sharedServer(deployment);
      // The web page answers every method on some paths.
      for (const { method, path, creates, schema } of instance.routes.filter((route) => !route.schema.hide)) {
        if (method !== 'POST') assert.ok(!creates, `${method} ${path} can be repeated as it is`);
        else {
          const again = ROUTES[`POST ${path}`]?.again;
          assert.equal(
            again === HAS_KEY,
            creates,
            `POST ${path} must honor an Idempotency-Key, or say why it need not`,
          );
          const isCreated = '201' in (schema.response ?? {});
          if (!creates)
            assert.equal(isCreated, CREATES_BY_CODE.has(path) || path === KUBE_TOKEN, `POST ${path} answers 201`);
          found.add(`POST ${path}`);
        }
      }
    }
    const said = Object.keys(ROUTES).filter((route) => ROUTES[route]?.again !== undefined);
    assert.deepEqual([...found].sort(), said.sort());
  });

  it('OpenAPI and the client name exactly the operations that honor an Idempotency-Key', async () => {
    const servers = await Promise.all(DEPLOYMENTS.map((deployment) => sharedServer(deployment)));
    const creating = servers.flatMap(({ instance }) =>
      instance.routes.filter(({ creates, schema }) => creates && !schema.hide),
    );
    const paths = creating.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    const names = [...new Set(paths)].sort();
    const document = JSON.parse(readFileSync('openapi/atrium.json', 'utf8')) as {
      paths: Record<string, Record<string, Operation>>;
    };
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { parameters = [], responses, 'x-errors': errors }]) => {
        if (!parameters.some((one) => one.in === 'header' && one.name === 'Idempotency-Key')) return [];
        for (const status of [400, 409, 422]) assert.ok(errors.includes(status), `${path} ${status}`);
        const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
        for (const [, answer] of good) assert.ok('Idempotency-Replayed' in (answer.headers ?? {}), path);
        return [`${method.toUpperCase()} ${path}`];
      }),
    );
    assert.deepEqual(described.sort(), names);
    assert.deepEqual([...KEYED].map((name) => name.replace(' ', ' /api/v1')).sort(), names);
  });
});
