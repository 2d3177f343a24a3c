import type { Answer } from '../../client/client.ts';
import { wholeNumber } from '../changes.ts';
import { command } from '../command.ts';
import { misuse } from '../failure.ts';
import { MARKETPLACES } from '../marketplaces.gen.ts';
import { shortTime } from '../moments.ts';
import { type Columns, one, type Shown, said, verbatim } from '../output.ts';
import type { Session } from '../session.ts';
import { confirm, readInput } from '../terminal.ts';
import { fullNameOf, installerColumns } from './marketplace-lists.ts';

type AddedSecret = Answer<'POST /admin/marketplace/secrets'>;

const marketplace = { about: 'the marketplace', choices: MARKETPLACES } as const;
const installer_ = { about: 'ID of the installer' } as const;

export const installer = {
  summary: 'create installers, and issue links to their archives',
  commands: {
    show: command({
      summary: 'show an installer',
      args: { id: installer_ },
      examples: ['atrium marketplace installer show ID'],
      watch: {},
      async run(session, { args }) {
        const path = { id: args.id };
        return one(await session.client().call('GET /admin/marketplace/installers/{id}', { path }), installerColumns);
      },
    }),
    create: command({
      summary: 'create an installer, which a customer of the marketplace can bind once',
      details: 'The ID of an installer that is not bound may be enough to bind it.',
      args: { marketplace },
      options: {
        days: { about: 'number of days in which it can be bound; 365 by default', value: 'N' },
        test: { about: 'for tests: it can be bound without the secret; only some marketplaces have that' },
      },
      examples: [
        'atrium marketplace installer create cloudB --days 30',
        'atrium marketplace installer create cloudA -o name',
      ],
      async run(session, { args, options }) {
        const days = wholeNumber(options.days, '--days');
        const body = { marketplace: fullNameOf(args.marketplace), days, is_test: options.test || undefined };
        const made = await session.client().call('POST /admin/marketplace/installers', { body });
        return { ...one(made, installerColumns), names: [made.id] };
      },
    }),
    link: command({
      summary: 'issue another link to the archive of a bound installer, valid for 24 hours',
      details: 'Prints only the link. It is enough to download the archive.',
      args: { id: installer_ },
      examples: ['atrium marketplace installer link ID'],
      async run(session, { args }) {
        const path = { id: args.id };
        const made = await session.client().call('POST /admin/marketplace/installers/{id}/link', { path });
        return verbatim(made.link, made);
      },
    }),
  },
};

export const addSecret = command({
  summary: 'add a secret of a marketplace, in addition to those that it has',
  details:
    'Without an option, the server creates the secret and it is printed once. A secret of your own comes from a file ' +
    'or from standard input, because other users can see the command line.',
  args: { marketplace },
  options: {
    'secret-file': { about: 'file with the secret', value: 'FILE', kind: 'file' },
    'secret-stdin': { about: 'read the secret from standard input' },
  },
  examples: [
    'atrium marketplace add-secret cloudB',
    'atrium marketplace add-secret cloudB --secret-stdin < secret.txt',
    'atrium marketplace add-secret cloudC --secret-file secret.txt',
  ],
  async run(session, { args, options }): Promise<Shown> {
    const secret = await secretFrom(options['secret-file'], options['secret-stdin']);
    // The server says itself which marketplaces have no secret.
    const name = fullNameOf(args.marketplace) as 'CloudB' | 'CloudC';
    const body = { marketplace: name, secret };
    const made = await session.client().call('POST /admin/marketplace/secrets', { body });
    return one(made, columnsOf(made));
  },
});

export const retireSecret = command({
  summary: 'retire a secret of a marketplace that was added',
  details: 'The fingerprint is that of atrium marketplace secrets. Secrets from the settings are retired there.',
  args: { fingerprint: { about: 'fingerprint of the secret, as an ID' } },
  examples: ['atrium marketplace retire-secret 0123456789abcdef --yes'],
  async run(session, { args: { fingerprint } }) {
    await mayRetire(session, fingerprint);
    await session.client().call('DELETE /admin/marketplace/secrets/{fingerprint}', { path: { fingerprint } });
    return said(`retired the secret ${fingerprint}`);
  },
});

async function mayRetire(session: Session, fingerprint: string): Promise<void> {
  await confirm(session, `Retire the secret ${fingerprint}? Notifications that use it are rejected from then on.`);
}

async function secretFrom(file: string | undefined, isPiped: boolean): Promise<string | undefined> {
  if (file !== undefined && isPiped) throw misuse('use either --secret-file or --secret-stdin, not both');
  if (file === undefined && !isPiped) return undefined;
  const secret = (await readInput(file ?? '-')).trim();
  if (secret === '') throw misuse('the secret is empty');
  return secret;
}

/** A secret that the server created is shown here and never again. */
function columnsOf({ secret }: AddedSecret): Columns<AddedSecret> {
  return {
    fingerprint: (row) => row.fingerprint,
    marketplace: (row) => row.marketplace,
    added: (row) => (row.added_at ? shortTime(row.added_at) : ''),
    ...(secret !== undefined && { secret: (row: AddedSecret) => row.secret }),
  };
}
