import { writeFile } from 'node:fs/promises';
import { type Answer, RawBody } from '../../client/client.ts';
import { command } from '../command.ts';
import { type Document, readDocument } from '../documents.ts';
import { EXIT, misuse } from '../failure.ts';
import { linesOf } from '../impact.ts';
import { AT, pastMoment } from '../moments.ts';
import { asJson, type Shown, type Style } from '../output.ts';
import type { Session } from '../session.ts';
import { confirm, readInput } from '../terminal.ts';
import { plain } from '../text.ts';

type Plan = Answer<'POST /orgs/{org}/plan'>;
type Report = Pick<Plan, 'changes' | 'unmanaged'>;

const file = { about: 'the file of the organization, YAML or JSON; - for standard input', kind: 'file' } as const;
const SIGNS = { create: '+', update: '~', delete: '-' } as const;

export const plan = command({
  summary: 'show what a file would change in an organization, and who gains and loses what',
  details:
    'Changes nothing. Exits 0 if there is nothing to do, 2 if there are changes, and 1 if they would be rejected or ' +
    'there is no plan. With --json, everything that the server says.',
  args: { file },
  examples: ['atrium plan acme.yaml', 'atrium plan acme.yaml --json'],
  async run(session, { args }): Promise<Shown> {
    const found = await planOf(session, await fileAt(args.file));
    const differs = found.changes.length > 0 ? EXIT.differs : 0;
    return {
      data: found,
      lay: (style) => planLines(found, style),
      exit: found.refusals.length > 0 ? EXIT.rejected : differs,
    };
  },
});

export const drift = command({
  summary: 'compare an organization with its file',
  details:
    'Changes nothing. Exits 0 if the organization is as in the file, 2 if it differs, and 1 if they could not be ' +
    'compared. What is not in the file is listed; with --strict, it is a difference, too.',
  args: { file },
  options: { strict: { about: 'what is not in the file is a difference' } },
  examples: ['atrium drift acme.yaml', 'atrium drift acme.yaml --strict'],
  async run(session, { args, options }): Promise<Shown> {
    const { changes, unmanaged } = await planOf(session, await fileAt(args.file));
    const extra = Object.values(unmanaged).reduce((sum, names) => sum + names.length, 0);
    const differs = changes.length > 0 || (options.strict && extra > 0);
    return {
      data: { changes, unmanaged },
      lay: (style) => [
        ...changeLines({ changes }, style),
        ...unmanagedLines({ unmanaged }, style),
        differs
          ? `${count(changes.length + (options.strict ? extra : 0), 'difference')}`
          : 'the organization is as in the file',
      ],
      exit: differs ? EXIT.differs : 0,
    };
  },
});

export const apply = command({
  summary: 'make an organization match its file',
  details:
    'Applies all changes or none, and only those of the plan: if anything has changed in the meantime, nothing is ' +
    'applied. On a terminal, shows the plan first and asks for confirmation; otherwise it needs --yes.',
  args: { file },
  examples: ['atrium apply acme.yaml', 'atrium apply acme.yaml --yes'],
  async run(session, { args }): Promise<Shown> {
    const document = await fileAt(args.file);
    const found = await planOf(session, document);
    if (found.changes.length === 0) return { data: found, lay: () => ['nothing to change'] };
    if (session.screen.isInteractive) {
      for (const line of planLines(found, session.screen.style)) session.screen.note(line);
    }
    await confirm(session, question(found));
    const done = await session.client().call('PUT /orgs/{org}/file', {
      path: { org: document.organization },
      body: new RawBody(document.text, document.type),
      ifMatch: found.etag,
    });
    return {
      data: done,
      lay: (style) => [...changeLines(done, style), `${count(done.changes.length, 'change')} applied`],
    };
  },
});

export const exportFile = command({
  summary: 'print an organization as one file, or write the file',
  details:
    'Teams, roles, assignments, robots, guardrails, rules and webhooks, without any secret. With --at, teams, roles, ' +
    'assignments and guardrails as they were, from the audit log: such a file says as_of, and cannot be applied.',
  args: { file: { about: 'where to write it; without one, it is printed', kind: 'file', optional: true } },
  options: {
    sections: { about: 'only these sections, such as teams,roles', value: 'NAMES' },
    ids: { about: 'members also by the IDs of their accounts, so that a login cannot pass to another person' },
    ...AT,
  },
  examples: [
    'atrium export acme.yaml',
    'atrium export --at 7d',
    'atrium export --sections teams,roles',
    'atrium export --json',
  ],
  async run(session, { args, options }) {
    const format = session.format === 'json' ? 'json' : 'yaml';
    const at = pastMoment(options.at, session.isWatching);
    const query = { format, sections: options.sections, ids: options.ids || undefined, at } as const;
    const path = { org: session.org() };
    const document: unknown = await session.client().call('GET /orgs/{org}/file', { path, query });
    const text = typeof document === 'string' ? document.trimEnd() : asJson(document);
    if (args.file === undefined) session.screen.writeDocument(text);
    else await writeFile(args.file, `${text}\n`);
    return undefined;
  },
});

export const fmt = command({
  summary: 'format the file of an organization',
  details:
    'Comments and the order of everything stay. With --check, writes nothing, and exits 1 if the file is not formatted. ' +
    'Standard input is printed.',
  args: { file },
  options: { check: { about: 'write nothing; exit 1 if the file would change' } },
  examples: ['atrium fmt acme.yaml', 'atrium fmt acme.yaml --check'],
  async run(session, { args, options }): Promise<Shown | undefined> {
    const text = await readInput(args.file);
    const document = await readDocument(text, args.file);
    const formatted = document.type === 'application/json' ? `${asJson(JSON.parse(text))}\n` : await formatYaml(text);
    const isSame = formatted === text;
    if (options.check) {
      const words = isSame ? 'the file is formatted' : `${args.file} is not formatted: run atrium fmt ${args.file}`;
      return { data: { formatted: isSame }, lay: () => [words], exit: isSame ? 0 : EXIT.rejected };
    }
    if (args.file === '-') session.screen.writeDocument(formatted.trimEnd());
    else if (!isSame) await writeFile(args.file, formatted);
    return undefined;
  },
});

/** Comments, blank lines, the order of keys and the way in which texts are quoted stay. */
async function formatYaml(text: string): Promise<string> {
  const { parseDocument } = await import('yaml');
  return parseDocument(text).toString({ lineWidth: 0, indent: 2, indentSeq: true, flowCollectionPadding: false });
}

interface OrganizationFile extends Document {
  readonly organization: string;
}

/** The organization is the one in the file, so that a file is never applied to another one. */
async function fileAt(path: string): Promise<OrganizationFile> {
  const document = await readDocument(await readInput(path), path);
  const { parse } = await import('yaml');
  const { organization } = (parse(document.text) ?? {}) as { organization?: unknown };
  if (typeof organization !== 'string')
    throw misuse(`${path} does not say which organization it is about: organization`);
  return { ...document, organization };
}

async function planOf(session: Session, { organization, text, type }: OrganizationFile): Promise<Plan> {
  const path = { org: organization };
  return await session.client().call('POST /orgs/{org}/plan', { path, body: new RawBody(text, type) });
}

function planLines(found: Plan, style: Style): string[] {
  const { changes, impact, refusals, warnings } = found;
  const watched = found.guardrails.filter(({ enforce }) => !enforce);
  return [
    ...changeLines(found, style),
    ...(changes.length > 0 ? linesOf({ ...impact, guardrails: [] }, style) : []),
    ...watched.map(({ name, sentence }) => style.bad(`would violate the guardrail ${plain(name)}: ${plain(sentence)}`)),
    ...refusals.map(({ section, name, message }) => {
      return style.bad(`would be rejected: ${section} ${plain(name)}: ${plain(message)}`);
    }),
    ...warnings.map((warning) => `warning: ${plain(warning)}`),
    ...unmanagedLines(found, style),
    changes.length === 0 ? 'nothing to change' : `${count(changes.length, 'change')} to apply`,
  ];
}

function changeLines({ changes }: Pick<Report, 'changes'>, style: Style): string[] {
  const paint = { create: style.good, update: style.bold, delete: style.bad };
  return changes.flatMap(({ section, name, kind, words }) => [
    paint[kind](`${SIGNS[kind]} ${section}${name === section ? '' : ` ${plain(name)}`}`),
    ...words.map((word) => `    ${plain(word)}`),
  ]);
}

function unmanagedLines({ unmanaged }: Pick<Report, 'unmanaged'>, style: Style): string[] {
  return Object.entries(unmanaged).flatMap(([section, names]) =>
    names.length === 0 ? [] : [style.dim(`not in the file, left unchanged: ${section} ${plain(names.join(', '))}`)],
  );
}

function question({ changes }: Plan): string {
  const gone = changes.filter(({ kind }) => kind === 'delete').map(({ section, name }) => `${section} ${plain(name)}`);
  const loss = gone.length > 0 ? `, including ${count(gone.length, 'deletion')} (${gone.join(', ')})` : '';
  return `Apply ${count(changes.length, 'change')}${loss}?`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
