import { type Answer, RawBody } from '../../client/client.ts';
import { command, type Group } from '../command.ts';
import { readDocument, toJson } from '../documents.ts';
import { misuse, rejected } from '../failure.ts';
import { shortTime } from '../moments.ts';
import { all } from '../names.ts';
import { type Columns, list, said, verbatim } from '../output.ts';
import type { Session } from '../session.ts';
import { didYouMean } from '../suggest.ts';
import { confirm, readInput } from '../terminal.ts';

type Order = Answer<'GET /user/deploy/orders'>[number];

const UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const order_ = { about: 'name or ID of the order' } as const;
const file = {
  about: 'file with the order as JSON or YAML; - for standard input',
  value: 'FILE',
  short: 'f',
  kind: 'file',
} as const;
const columns: Columns<Order> = {
  id: ({ metadata }) => metadata.uid,
  name: ({ metadata }) => metadata.name,
  created: ({ metadata }) => shortTime(metadata.creationTimestamp),
};

/** Orders may share a name, because it is that of their first release. */
async function uidOf(session: Session, given: string): Promise<string> {
  if (UID.test(given)) return given;
  const orders = (await all(session.client().each('GET /user/deploy/orders'))).map(({ metadata }) => metadata);
  const [one, ...others] = orders.filter(({ name }) => name === given);
  if (one && others.length === 0) return one.uid;
  if (one) {
    const ids = [one, ...others].map(({ uid }) => uid).join(', ');
    throw rejected(`more than one order is named ${JSON.stringify(given)}; use an ID instead: ${ids}`);
  }
  const names = orders.map(({ name }) => name);
  throw rejected(`you have no order named ${JSON.stringify(given)}${didYouMean(given, names)}`);
}

export const order: Group = {
  summary: 'manage your deploy orders',
  commands: {
    list: command({
      summary: 'list your orders, newest first',
      examples: ['atrium order list'],
      watch: {},
      async run(session) {
        return list(await all(session.client().each('GET /user/deploy/orders')), columns, 'none');
      },
    }),
    create: command({
      summary: 'create an order from a file',
      options: { file },
      examples: ['atrium order create --file order.yaml', 'atrium order create --file - < order.json'],
      async run(session, { options }) {
        if (options.file === undefined) throw misuse('missing option --file FILE; use - for standard input');
        const text = await toJson(await readDocument(await readInput(options.file), options.file));
        const made = await session.client().call('POST /user/deploy/orders', { body: new RawBody(text) });
        const { metadata } = made as Order;
        return said(`created the order ${metadata.name} with the ID ${metadata.uid}`, made);
      },
    }),
    render: command({
      summary: 'print the Flux manifests of an order',
      args: { order: order_ },
      examples: ['atrium order render cache'],
      async run(session, { args }) {
        const path = { id: await uidOf(session, args.order) };
        const lines = await all(session.client().lines('GET /user/deploy/orders/{id}/render/manifest', { path }));
        return verbatim(lines.join('\n'), lines.join('\n'));
      },
    }),
    delete: command({
      summary: 'delete an order; what was deployed with it stays',
      args: { order: order_ },
      examples: ['atrium order delete cache --yes'],
      async run(session, { args }) {
        const id = await uidOf(session, args.order);
        await confirm(session, `Delete the order ${args.order}?`);
        await session.client().call('DELETE /user/deploy/orders/{id}', { path: { id } });
        return said(`deleted the order ${args.order}`);
      },
    }),
  },
};
