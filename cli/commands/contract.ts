import type { Answer } from '../../client/client.ts';
import { changesIn, listGiven } from '../changes.ts';
import { command, type Group } from '../command.ts';
import { misuse } from '../failure.ts';
import { momentIn, shortTime } from '../moments.ts';
import { all, findResource, idOf } from '../names.ts';
import { type Columns, list, one, said } from '../output.ts';
import { confirm } from '../terminal.ts';

type Contract = Answer<'GET /contracts/{id}'>;

const contract_ = { about: 'name or ID of the contract', kind: 'contract' } as const;
const terms = {
  product: { about: 'name of the product', value: 'NAME' },
  feature: { about: 'feature that is included', value: 'NAME', many: true },
  cluster: { about: 'UID of a cluster that it covers', value: 'UID', many: true },
  start: { about: 'start time, such as 2026-01-31; now by default', value: 'WHEN' },
  end: { about: 'end time, such as 365d or 2027-01-31; never by default', value: 'WHEN' },
  quota: { about: 'quota, such as nodes=100', value: 'WHAT=N', many: true },
} as const;
interface Terms {
  readonly product: string | undefined;
  readonly feature: readonly string[];
  readonly cluster: readonly string[];
  readonly start: string | undefined;
  readonly end: string | undefined;
  readonly quota: readonly string[];
}

function bodyOf({ product, feature, cluster, start, end, quota }: Terms) {
  return {
    product,
    features: listGiven(feature),
    clusters: listGiven(cluster),
    start: start === undefined ? undefined : momentIn(start, 1),
    end: end === undefined ? undefined : end === 'never' ? null : momentIn(end, 1),
    quota: quota.length === 0 ? undefined : Object.fromEntries(quota.map(readQuota)),
  };
}

function readQuota(text: string): [string, number] {
  const [, what = '', count = ''] = /^([^=]+)=(\d{1,15})$/.exec(text) ?? [];
  if (what === '') throw misuse(`--quota must be WHAT=N, such as nodes=100, got ${JSON.stringify(text.slice(0, 60))}`);
  return [what, Number(count)];
}

const quotaOf = (row: Contract) => Object.entries(row.quota).map(([what, count]) => `${what}=${count}`);
const fields: Columns<Contract> = {
  id: (row) => row.id,
  name: (row) => row.name,
  uid: (row) => row.uid,
  product: (row) => row.product,
  features: (row) => row.features,
  clusters: (row) => row.clusters,
  start: (row) => shortTime(row.start),
  end: (row) => shortTime(row.end),
  revoked: (row) => row.revoked,
  quota: quotaOf,
};

export const contract: Group = {
  summary: 'manage billing contracts',
  commands: {
    list: command({
      summary: 'list the contracts of the organization',
      examples: ['atrium contract list --org acme'],
      watch: {},
      async run(session) {
        const columns: Columns<Contract> = {
          id: (row) => row.id,
          name: (row) => row.name,
          product: (row) => row.product,
          end: (row) => shortTime(row.end),
          revoked: (row) => row.revoked,
          quota: quotaOf,
        };
        const path = { org: session.org() };
        return list(await all(session.client().each('GET /orgs/{org}/contracts', { path })), columns, 'none');
      },
    }),
    show: command({
      summary: 'show a contract',
      args: { contract: contract_ },
      examples: ['atrium contract show acme'],
      watch: {},
      async run(session, { args }) {
        const path = { id: await idOf(session, 'contract', args.contract) };
        return one(await session.client().call('GET /contracts/{id}', { path }), fields);
      },
    }),
    create: command({
      summary: 'create a contract',
      args: { name: { about: 'name of the contract' } },
      options: terms,
      examples: ['atrium contract create enterprise --product platform --end 365d --quota nodes=100'],
      async run(session, { args, options }) {
        const body = { name: args.name, ...bodyOf(options) };
        const path = { org: session.org() };
        return one(await session.client().call('POST /orgs/{org}/contracts', { path, body }), fields);
      },
    }),
    edit: command({
      summary: 'change a contract; only the given fields change',
      args: { contract: contract_ },
      options: { name: { about: 'new name', value: 'NAME' }, ...terms },
      examples: ['atrium contract edit enterprise --quota nodes=200 --end never'],
      async run(session, { args, options }) {
        const body = changesIn({ name: options.name, ...bodyOf(options) }, 'contract edit');
        const path = { id: await idOf(session, 'contract', args.contract) };
        return one(await session.client().call('PATCH /contracts/{id}', { path, body }), fields);
      },
    }),
    revoke: command({
      summary: 'end a contract permanently, but keep it on record',
      args: { contract: contract_ },
      examples: ['atrium contract revoke enterprise --yes'],
      async run(session, { args }) {
        const { id, name } = await findResource(session, 'contract', args.contract);
        await confirm(session, `Revoke the contract ${name} permanently?`);
        await session.client().call('PATCH /contracts/{id}', { path: { id }, body: { revoked: true } });
        return said(`revoked the contract ${name}`);
      },
    }),
    delete: command({
      summary: 'delete a contract',
      args: { contract: contract_ },
      examples: ['atrium contract delete enterprise --yes'],
      async run(session, { args }) {
        const { id, name } = await findResource(session, 'contract', args.contract);
        await confirm(session, `Delete the contract ${name}?`);
        await session.client().call('DELETE /contracts/{id}', { path: { id } });
        return said(`deleted the contract ${name}`);
      },
    }),
  },
};
