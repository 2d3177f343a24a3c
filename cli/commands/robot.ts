import type { Answer } from '../../client/client.ts';
import { changesIn } from '../changes.ts';
import { command, type Group } from '../command.ts';
import { all, findResource, idOf } from '../names.ts';
import { type Columns, list, one, said } from '../output.ts';
import { confirm } from '../terminal.ts';
import { trust } from './robot-trust.ts';
import {
  createToken,
  newTokenOptions,
  rotationOf,
  rotationOptions,
  showNewToken,
  showSuccessor,
  tokenColumns,
} from './token.ts';

type Robot = Answer<'GET /robots/{id}'>;

const robot_ = { about: 'name or ID of the robot account', kind: 'robot' } as const;
const description = { about: 'what it does', value: 'TEXT' } as const;
const columns: Columns<Robot> = {
  id: (row) => row.id,
  name: (row) => row.name,
  description: (row) => row.description,
};

const token: Group = {
  summary: 'manage the tokens of a robot account',
  commands: {
    list: command({
      summary: 'list the tokens of a robot account',
      args: { robot: robot_ },
      examples: ['atrium robot token list ci'],
      watch: { ignore: ['last_used_at'] },
      async run(session, { args }) {
        const path = { id: await idOf(session, 'robot', args.robot) };
        return list(await all(session.client().each('GET /robots/{id}/tokens', { path })), tokenColumns, 'none');
      },
    }),
    create: command({
      summary: 'create a token for a robot account and show it once',
      args: { robot: robot_, name: { about: 'name of the token' } },
      options: newTokenOptions,
      examples: ['atrium robot token create agent prod --scope write:organization --expires 90d'],
      async run(session, { args, options }) {
        const path = { id: await idOf(session, 'robot', args.robot) };
        const made = await createToken(session, args.name, options, (body) =>
          session.client().call('POST /robots/{id}/tokens', { path, body }),
        );
        return showNewToken(session, made);
      },
    }),
    rotate: command({
      summary: 'replace a token of a robot account; the old one works for a while longer',
      args: { robot: robot_, token: { about: 'name or ID of the token' } },
      options: rotationOptions,
      examples: ['atrium robot token rotate ci pipeline --overlap 2h'],
      async run(session, { args, options }) {
        const path = { id: await idOf(session, 'robot', args.robot), token: args.token };
        const body = rotationOf(options);
        const made = await session.client().call('POST /robots/{id}/tokens/{token}/rotate', { path, body });
        return showSuccessor(session, made, options.overlap);
      },
    }),
    delete: command({
      summary: 'revoke a token of a robot account',
      args: { robot: robot_, token: { about: 'name or ID of the token' } },
      examples: ['atrium robot token delete ci pipeline --yes'],
      async run(session, { args }) {
        const { id, name } = await findResource(session, 'robot', args.robot);
        await confirm(session, `Revoke the token ${args.token} of the robot account ${name}?`);
        await session.client().call('DELETE /robots/{id}/tokens/{token}', { path: { id, token: args.token } });
        return said(`revoked ${args.token}`);
      },
    }),
  },
};

export const robot: Group = {
  summary: 'manage robot accounts and their tokens',
  commands: {
    list: command({
      summary: 'list the robot accounts of the organization',
      examples: ['atrium robot list --org acme'],
      watch: {},
      async run(session) {
        const path = { org: session.org() };
        return list(await all(session.client().each('GET /orgs/{org}/robots', { path })), columns, 'none');
      },
    }),
    show: command({
      summary: 'show a robot account',
      args: { robot: robot_ },
      examples: ['atrium robot show ci'],
      watch: {},
      async run(session, { args }) {
        const path = { id: await idOf(session, 'robot', args.robot) };
        return one(await session.client().call('GET /robots/{id}', { path }), columns);
      },
    }),
    create: command({
      summary: 'create a robot account',
      details:
        'A robot may do what roles are assigned to it for (see atrium role assign), reports for clusters, and ' +
        'provisions people over SCIM. It cannot call what is about the own account of a user.',
      args: { name: { about: 'name of the robot account' } },
      options: { description },
      examples: ['atrium robot create agent --description "Reports for the clusters"'],
      async run(session, { args, options }) {
        const body = { name: args.name, description: options.description };
        const path = { org: session.org() };
        return one(await session.client().call('POST /orgs/{org}/robots', { path, body }), columns);
      },
    }),
    edit: command({
      summary: 'change a robot account; only the given fields change',
      args: { robot: robot_ },
      options: { name: { about: 'new name', value: 'NAME' }, description },
      examples: ['atrium robot edit agent --description "Reports for prod and staging"'],
      async run(session, { args, options }) {
        const body = changesIn({ name: options.name, description: options.description }, 'robot edit');
        const path = { id: await idOf(session, 'robot', args.robot) };
        return one(await session.client().call('PATCH /robots/{id}', { path, body }), columns);
      },
    }),
    delete: command({
      summary: 'delete a robot account and its tokens',
      args: { robot: robot_ },
      examples: ['atrium robot delete agent --yes'],
      async run(session, { args }) {
        const { id, name } = await findResource(session, 'robot', args.robot);
        await confirm(session, `Delete the robot account ${name} and its tokens?`);
        await session.client().call('DELETE /robots/{id}', { path: { id } });
        return said(`deleted the robot account ${name}`);
      },
    }),
    token,
    trust,
  },
};
