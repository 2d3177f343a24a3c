import { command, type Group } from '../command.ts';
import { all } from '../names.ts';
import { list, one, said } from '../output.ts';
import { holderColumns, MISSING } from './factor.ts';

/** Whether an organization requires a second factor of its members. */
export const orgSecondFactor: Group = {
  summary: 'require a second factor of the members',
  commands: {
    show: command({
      summary: 'show whether the organization requires a second factor of its members',
      examples: ['atrium org second-factor show --org acme'],
      watch: {},
      async run(session) {
        const path = { org: session.org() };
        const found = await session.client().call('GET /orgs/{org}/second_factor', { path });
        return one(found, { required: (row) => row.required });
      },
    }),
    set: command({
      summary: 'require a second factor of all members, or stop requiring it',
      details: 'Only a user who has a second factor can require one. See who would have to add one with members.',
      args: { what: { about: 'what it is from now on', choices: ['required', 'optional'] } },
      examples: ['atrium org second-factor set required', 'atrium org second-factor set optional --org acme'],
      async run(session, { args }) {
        const path = { org: session.org() };
        const body = { required: args.what === 'required' };
        await session.client().call('PUT /orgs/{org}/second_factor', { path, body });
        return said(`a second factor is ${args.what} for the members of ${path.org}`);
      },
    }),
    members: command({
      summary: 'list which second factors the members have',
      options: MISSING,
      examples: ['atrium org second-factor members', 'atrium org second-factor members --missing --org acme'],
      watch: {},
      async run(session, { options }) {
        const path = { org: session.org() };
        const query = options.missing ? { missing: true } : {};
        const found = session.client().each('GET /orgs/{org}/second_factor/members', { path, query });
        return list(await all(found), holderColumns, 'none');
      },
    }),
  },
};
