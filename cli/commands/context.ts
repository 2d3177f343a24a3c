import { command, type Group } from '../command.ts';
import type { Config } from '../config.ts';
import { misuse } from '../failure.ts';
import { list, one, said } from '../output.ts';
import type { Session } from '../session.ts';
import { didYouMean } from '../suggest.ts';

const name = { about: 'name of the context', kind: 'context' } as const;

/** Tokens are never shown, in any form. */
function rows({ contexts, current }: Config) {
  return Object.entries(contexts).map(([key, { url, user, org }]) => ({
    name: key,
    current: key === current,
    url,
    user: user ?? '',
    org: org ?? '',
  }));
}

function requireContext(session: Session, key: string) {
  const config = session.config();
  const found = Object.hasOwn(config.contexts, key) ? config.contexts[key] : undefined;
  if (found) return { config, found };
  const hint = didYouMean(key, Object.keys(config.contexts));
  throw misuse(`unknown context ${JSON.stringify(key)}${hint}; run atrium context list`);
}

export const context: Group = {
  summary: 'manage the servers and accounts that you use',
  commands: {
    list: command({
      summary: 'list all contexts',
      examples: ['atrium context list'],
      async run(session) {
        return list(
          rows(session.config()),
          {
            current: (row) => (row.current ? '*' : ''),
            name: (row) => row.name,
            url: (row) => row.url,
            user: (row) => row.user,
            org: (row) => row.org,
          },
          'none; run atrium login URL',
        );
      },
    }),
    show: command({
      summary: 'show a context, by default the current one',
      args: { name: { ...name, optional: true } },
      examples: ['atrium context show', 'atrium context show staging'],
      async run(session, { args }) {
        const key = args.name ?? session.context()?.name;
        if (key === undefined) throw misuse('there is no current context; run atrium login URL');
        const { config } = requireContext(session, key);
        const row = rows(config).find((entry) => entry.name === key);
        if (!row) throw misuse(`unknown context ${key}`);
        return one(row, {
          name: (it) => it.name,
          server: (it) => it.url,
          user: (it) => it.user,
          organization: (it) => it.org,
          current: (it) => it.current,
          file: () => session.configPath,
        });
      },
    }),
    use: command({
      summary: 'switch to a context; with --org, also set its organization',
      args: { name },
      examples: ['atrium context use staging', 'atrium context use staging --org acme'],
      async run(session, { args }) {
        const { config, found } = requireContext(session, args.name);
        const org = session.orgOption;
        const changed = { ...found, ...(org && { org }) };
        session.saveConfig({ current: args.name, contexts: { ...config.contexts, [args.name]: changed } });
        return said(`switched to ${args.name}${changed.org ? `, organization ${changed.org}` : ''}`);
      },
    }),
    delete: command({
      summary: 'delete a context and its token',
      details: 'The token stays valid on the server. To revoke a token that atrium login created, use atrium logout.',
      args: { name },
      examples: ['atrium context delete staging'],
      async run(session, { args }) {
        const { config } = requireContext(session, args.name);
        const { [args.name]: _gone, ...contexts } = config.contexts;
        const isCurrent = config.current === args.name;
        session.saveConfig({ contexts, ...(config.current && !isCurrent && { current: config.current }) });
        return said(`deleted the context ${args.name}`);
      },
    }),
  },
};
