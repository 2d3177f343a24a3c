import { open, rm } from 'node:fs/promises';
import type { Answer } from '../../client/client.ts';
import { changesIn } from '../changes.ts';
import { command, type Group } from '../command.ts';
import { misuse, rejected } from '../failure.ts';
import { type Columns, one, said } from '../output.ts';
import { askSecret, readInput } from '../terminal.ts';

const fields: Columns<Answer<'GET /user'>> = {
  login: (row) => row.login,
  name: (row) => row.full_name,
  email: (row) => row.email,
  language: (row) => row.language,
  location: (row) => row.location,
  website: (row) => row.website,
  description: (row) => row.description,
};

export const profile: Group = {
  summary: 'manage your profile and password',
  commands: {
    show: command({
      summary: 'show your profile',
      examples: ['atrium profile show'],
      run: async (session) => one(await session.client().call('GET /user'), fields),
    }),
    edit: command({
      summary: 'change your profile; only the given fields change',
      options: {
        'full-name': { about: 'new full name', value: 'TEXT' },
        language: { about: 'language tag, such as en or de-CH', value: 'TAG' },
        location: { about: 'where you are', value: 'TEXT' },
        website: { about: 'http or https URL', value: 'URL' },
        description: { about: 'a few words about you', value: 'TEXT' },
      },
      examples: ['atrium profile edit --full-name "Ann Archer" --location Bern'],
      async run(session, { options }) {
        const { 'full-name': full_name, language, location, website, description } = options;
        const body = changesIn({ full_name, language, location, website, description }, 'profile edit');
        return one(await session.client().call('PATCH /user', { body }), fields);
      },
    }),
    export: command({
      summary: 'write everything that the server knows about you to a file, a .tar.gz',
      details: 'Once a minute. Needs a token with the scope all. An existing file is not overwritten.',
      args: { file: { about: 'the file to write' } },
      examples: ['atrium profile export my-data.tar.gz'],
      async run(session, { args }) {
        const file = await open(args.file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
          throw rejected(error.code === 'EEXIST' ? `${args.file} exists already` : error.message);
        });
        let size = 0;
        try {
          for await (const part of session.client().bytes('GET /user/export')) {
            await file.writeFile(part);
            size += part.length;
          }
        } catch (error) {
          await rm(args.file, { force: true });
          throw error;
        } finally {
          await file.close();
        }
        return said(`wrote ${size} bytes to ${args.file}`);
      },
    }),
    password: command({
      summary: 'set your password; all your browser sessions end',
      details: 'Needs a token with the scope all. Tokens stay valid.',
      options: {
        stdin: { about: 'read two lines from standard input: the current password, empty if none, and the new one' },
      },
      examples: ['atrium profile password', 'atrium profile password --stdin < passwords.txt'],
      async run(session, { options }) {
        if (!options.stdin && !session.screen.isInteractive) throw misuse('this is not a terminal; add --stdin');
        const [current = '', next = ''] = options.stdin
          ? (await readInput('-')).split(/\r?\n/)
          : [await askSecret('Current password (empty if none): '), await askSecret('New password: ')];
        const body = { new: next, ...(current !== '' && { current }) };
        await session.client().call('PUT /user/password', { body });
        return said('the password is set; all your browser sessions have ended');
      },
    }),
  },
};
