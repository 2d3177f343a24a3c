import { addressesIn } from '../../client/addresses.ts';
import type { Answer } from '../../client/client.ts';
import { ApiError } from '../../client/errors.ts';
import { command, type Group } from '../command.ts';
import { misuse, rejected } from '../failure.ts';
import { momentIn, shortTime } from '../moments.ts';
import { all, idOf } from '../names.ts';
import { type Columns, list, one, said } from '../output.ts';
import type { Session } from '../session.ts';
import { confirm, readInput } from '../terminal.ts';

type Invitation = Answer<'GET /orgs/{org}/invitations'>[number];
/** With its link, if the server shows one. */
type Invited = Invitation & { readonly link?: string | undefined };

const FIRST_TEAM = 'Viewers';
const invitation_ = { about: 'the address, or the ID of the invitation' } as const;
const showLink = { about: 'also print a link that accepts it; it does not prove the address' } as const;
const state = {
  about: 'only invitations in this state',
  value: 'STATE',
  choices: ['open', 'accepted', 'expired'],
} as const;

const columns: Columns<Invitation> = {
  id: (row) => row.id,
  email: (row) => row.email,
  state: (row) => row.state,
  teams: (row) => row.teams.map(({ name }) => name),
  'invited by': (row) => row.invited_by?.name ?? '',
  expires: (row) => shortTime(row.expires_at),
};

export const invitation: Group = {
  summary: 'invite people to an organization by their addresses',
  commands: {
    create: command({
      summary: 'invite one or several addresses',
      details:
        'Each address gets an email with a link. Without a mail server, or with --show-link, the links are printed: ' +
        'hand each to the person that it is for.',
      args: { address: { about: 'address to invite', many: true, optional: true } },
      options: {
        from: { about: 'also invite the addresses in this file, in any form; - reads standard input', value: 'FILE' },
        team: {
          about: 'team to join, several times for several teams; by default Viewers',
          value: 'TEAM',
          many: true,
          kind: 'team',
        },
        message: { about: 'what the email says from you', value: 'TEXT' },
        expires: { about: 'when the invitation ends, such as 14d; by default in 7 days', value: 'WHEN' },
        'show-link': showLink,
      },
      examples: [
        'atrium invitation create zoe@acme.example --org acme',
        'atrium invitation create zoe@acme.example yan@acme.example --team operators --message "Welcome"',
        'atrium invitation create zoe@acme.example --show-link --expires 1d',
        'atrium invitation create --from people.csv --team operators',
      ],
      async run(session, { args, options }) {
        const addresses = [...args.address, ...(await listedIn(options.from))];
        if (addresses.length === 0) throw misuse('name an address, or a file that has addresses: --from FILE');
        const path = { org: session.org() };
        const named = options.team.length === 0 ? [FIRST_TEAM] : options.team;
        const team_ids: bigint[] = [];
        for (const team of named) team_ids.push(await idOf(session, 'team', team));
        const expires_at = options.expires === undefined ? undefined : momentIn(options.expires, 1);
        const more = { team_ids, message: options.message, expires_at };
        const query = options['show-link'] ? { show_link: true } : {};
        const made = await inviteAll(addresses, async (email) => {
          const body = { email, ...more };
          return await session.client().call('POST /orgs/{org}/invitations', { path, query, body });
        });
        return shown(made);
      },
    }),
    list: command({
      summary: 'list the invitations of the organization',
      options: { state },
      examples: ['atrium invitation list --org acme', 'atrium invitation list --state open'],
      watch: {},
      async run(session, { options }) {
        return list(await invitations(session, options.state), columns, 'none');
      },
    }),
    resend: command({
      summary: 'send an invitation again, with a new link; the old one stops working',
      args: { invitation: invitation_ },
      options: { 'show-link': showLink },
      examples: ['atrium invitation resend zoe@acme.example --org acme'],
      async run(session, { args, options }) {
        const { id } = await find(session, args.invitation);
        const path = { org: session.org(), id };
        const query = options['show-link'] ? { show_link: true } : {};
        return shown([await session.client().call('POST /orgs/{org}/invitations/{id}/resend', { path, query })]);
      },
    }),
    revoke: command({
      summary: 'revoke an invitation; its link stops working',
      args: { invitation: invitation_ },
      examples: ['atrium invitation revoke zoe@acme.example --org acme --yes'],
      async run(session, { args }) {
        const { id, email } = await find(session, args.invitation);
        const path = { org: session.org(), id };
        await confirm(session, `Revoke the invitation of ${email} to ${path.org}?`);
        await session.client().call('DELETE /orgs/{org}/invitations/{id}', { path });
        return said(`the invitation of ${email} is revoked`);
      },
    }),
  },
};

async function listedIn(file: string | undefined): Promise<string[]> {
  if (file === undefined) return [];
  const found = addressesIn(await readInput(file));
  if (found.length === 0) throw misuse(`there is no address in ${file === '-' ? 'standard input' : file}`);
  return found;
}

/** If one is rejected, the others are invited all the same: links that were made already must not be lost. */
async function inviteAll(addresses: readonly string[], invite: (address: string) => Promise<Invited>) {
  const made: Invited[] = [];
  const failed: string[] = [];
  for (const address of addresses) {
    try {
      made.push(await invite(address));
    } catch (error) {
      if (!(error instanceof ApiError) || addresses.length === 1) throw error;
      failed.push(`${address}: ${error.message}`);
    }
  }
  if (failed.length === 0) return made;
  const done = made.map(({ email, link }) => (link === undefined ? email : `${email} ${link}`));
  const invited = done.length === 0 ? '' : ` (already invited: ${done.join(', ')})`;
  throw rejected(`${failed.join('; ')}${invited}`);
}

function shown(made: readonly Invited[]) {
  const words: Columns<Invited> = {
    email: (row) => row.email,
    teams: (row) => row.teams.map(({ name }) => name),
    expires: (row) => shortTime(row.expires_at),
    ...(made.some(({ link }) => link !== undefined) && { link: (row: Invited) => row.link ?? '' }),
  };
  const [only] = made;
  return made.length === 1 && only ? one(only, words) : list(made, words, 'none');
}

async function invitations(session: Session, wanted?: Invitation['state']): Promise<readonly Invitation[]> {
  const query = wanted === undefined ? {} : { state: wanted };
  return await all(session.client().each('GET /orgs/{org}/invitations', { path: { org: session.org() }, query }));
}

/** By address, the newest one that can still be accepted comes first. */
async function find(session: Session, text: string): Promise<Invitation> {
  const found = (await invitations(session)).filter(
    ({ id, email }) => String(id) === text || email.toLowerCase() === text.toLowerCase(),
  );
  const best = found.find((row) => row.state === 'open') ?? found.find((row) => row.state === 'expired') ?? found[0];
  if (best) return best;
  throw rejected(`there is no invitation of ${JSON.stringify(text)} to ${session.org()}`);
}
