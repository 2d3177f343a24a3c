import { type Answer, RawBody } from '../../client/client.ts';
import { ApiError } from '../../client/errors.ts';
import { command } from '../command.ts';
import { readDocument } from '../documents.ts';
import { EXIT, misuse } from '../failure.ts';
import { type Impact, linesOf } from '../impact.ts';
import { AT, pastMoment } from '../moments.ts';
import { asJson, type Shown, type Style } from '../output.ts';
import { previewOf } from '../preview.ts';
import type { Session } from '../session.ts';
import { confirm, readInput } from '../terminal.ts';
import { plain } from '../text.ts';

type Report = Answer<'PUT /authz/roles/import'>;

export const roleExport = command({
  summary: 'print all roles and assignments of the organization as one document, for example to keep in git',
  options: { ...AT },
  examples: [
    'atrium role export --org acme > roles.yaml',
    'atrium role export --json > roles.json',
    'atrium role export --at 7d',
  ],
  async run(session, { options }) {
    const format = session.format === 'json' ? 'json' : 'yaml';
    const query = { org: session.org(), format, at: pastMoment(options.at, session.isWatching) } as const;
    const document: unknown = await session.client().call('GET /authz/roles/export', { query });
    const text = typeof document === 'string' ? document.trimEnd() : asJson(document);
    session.screen.writeDocument(text);
    return undefined;
  },
});

export const roleApply = command({
  summary: 'make the roles and assignments of the organization match a document',
  details:
    'Applies all changes or none. On a terminal, shows the changes first and asks for confirmation; ' +
    'if another user changes a role in the meantime, nothing is applied. With --dry-run, shows the plan: what ' +
    'changes, who gains and loses what unless the document has assignments, and which guardrails are in the way, also ' +
    'those of the document. Exits 1 if the server would reject it; with --exit-code, exits 2 if anything differs from the document.',
  options: {
    file: { about: 'the document, YAML or JSON; - for standard input', value: 'FILE', short: 'f', kind: 'file' },
    'dry-run': { about: 'change nothing; show the plan, and exit 1 if it would be rejected' },
    preview: { about: 'the same as --dry-run' },
    'exit-code': { about: 'with --dry-run: exit 2 if anything would change, to find drift in CI' },
    prune: { about: 'delete what is not in the document: roles, and assignments and guardrails if it has them' },
  },
  examples: [
    'atrium role apply --file roles.yaml --dry-run',
    'atrium role apply --file roles.yaml --dry-run --exit-code',
    'atrium role apply -f roles.yaml',
    'atrium role apply -f roles.yaml --prune --yes',
  ],
  async run(session, { options }): Promise<Shown> {
    if (options.file === undefined) throw misuse('missing option --file FILE; use - for standard input');
    const { text, type } = await readDocument(await readInput(options.file), options.file);
    const isPlan = options['dry-run'] || options.preview;
    if (options['exit-code'] && !isPlan) throw misuse('--exit-code is for --dry-run');
    const body = new RawBody(text, type);
    const put = (dryRun: boolean, ifMatch?: string) =>
      session.client().call('PUT /authz/roles/import', {
        query: { org: session.org(), dry_run: dryRun || undefined, prune: options.prune || undefined },
        body,
        ifMatch,
      });
    const preview = () => previewOf(session, [{ action: 'roles.import', document: text, prune: options.prune }]);
    if (isPlan) return await planned(() => put(true), preview, options['exit-code']);
    if (session.assumeYes || (!session.screen.isInteractive && !options.prune)) return shown(await put(false));

    // The changes that are applied must be the changes that were shown, so both requests are tied to the same version
    // of all roles.
    const { etag } = await session.client().request('GET /authz/roles/export', { query: { org: session.org() } });
    const plan = await put(true, etag);
    if (changesOf(plan).length === 0) return shown(plan);
    const gone = changesOf(plan).filter(({ kind }) => kind === 'delete');
    if (session.screen.isInteractive || gone.length > 0) await confirm(session, question(session, plan));
    return shown(await put(false, etag));
  },
});

/** What would change, and for whom. What would be rejected is shown with what it would do, which is the reason. */
async function planned(dryRun: () => Promise<Report>, preview: () => Promise<Impact>, tells: boolean): Promise<Shown> {
  try {
    const report = await dryRun();
    const plan = shown(report);
    const differs = tells && changesOf(report).length > 0 ? EXIT.differs : 0;
    // A preview does not know the assignments of a document.
    if (report.assignments) return { ...plan, exit: differs };
    const impact = await preview();
    return {
      data: { ...report, impact },
      lay: (style) => [...plan.lay(style), ...linesOf(impact, style)],
      exit: impact.refusals.length > 0 ? EXIT.rejected : differs,
    };
  } catch (error) {
    const impact = isRejection(error) ? await preview().catch(() => undefined) : undefined;
    if (!impact || impact.refusals.length === 0) throw error;
    return { data: { impact }, lay: (style) => linesOf(impact, style), exit: EXIT.rejected };
  }
}

function isRejection(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'guardrail_violated';
}

/** Shows the plan on a terminal, and returns the question to confirm. */
function question({ screen }: Session, plan: Report): string {
  if (screen.isInteractive) for (const line of difference(plan, screen.style)) screen.note(line);
  const changes = changesOf(plan);
  const gone = changes.filter(({ kind }) => kind === 'delete').map(({ name }) => name);
  const deletions = gone.length === 1 ? '1 deletion' : `${gone.length} deletions`;
  const loss = gone.length > 0 ? `, including ${deletions} (${gone.join(', ')})` : '';
  return `Apply ${changes.length === 1 ? '1 change' : `${changes.length} changes`}${loss}?`;
}

function shown(report: Report): Shown {
  return {
    data: report,
    lay: (style) => [...difference(report, style), summary(report), ...unmanaged(report, style)],
  };
}

const SIGNS = { create: '+', update: '~', delete: '-' } as const;

/** Of roles, assignments and guardrails. */
function changesOf({ changes, assignments, guardrails }: Report) {
  return [
    ...changes.map(({ role, kind, words }) => ({ name: role, kind, words })),
    ...(assignments?.changes ?? []).map(({ assignment, kind, words }) => {
      return { name: `assignment ${assignment}`, kind, words };
    }),
    ...(guardrails?.changes ?? []).map(({ guardrail, kind, words }) => {
      return { name: `guardrail ${guardrail}`, kind, words };
    }),
  ];
}

function difference(report: Report, style: Style): string[] {
  const paint = { create: style.good, update: style.bold, delete: style.bad };
  return changesOf(report).flatMap(({ name, kind, words }) => [
    paint[kind](`${SIGNS[kind]} ${plain(name)}`),
    ...words.map((word) => `    ${plain(word)}`),
  ]);
}

function summary(report: Report): string {
  const { dry_run } = report;
  const changes = changesOf(report);
  const parts = [report.assignments, report.guardrails].flatMap((part) => part ?? []);
  const unchanged = parts.reduce((sum, part) => sum + part.unchanged, report.unchanged);
  if (changes.length === 0 && parts.length > 0) return `nothing to change: ${unchanged} match the document`;
  const count = (kind: string) => changes.filter((change) => change.kind === kind).length;
  if (changes.length === 0)
    return `nothing to change: ${unchanged === 1 ? '1 role matches' : `${unchanged} roles match`} the document`;
  const planned = [`${count('create')} to create`, `${count('update')} to change`, `${count('delete')} to delete`];
  const done = [`${count('create')} created`, `${count('update')} changed`, `${count('delete')} deleted`];
  return `${(dry_run ? planned : done).join(', ')}, ${unchanged} unchanged`;
}

function unmanaged({ unmanaged: roles, assignments, guardrails }: Report, style: Style): string[] {
  const assigned = (assignments?.unmanaged ?? []).map((name) => `assignment ${name}`);
  const names = [...roles, ...assigned, ...(guardrails?.unmanaged ?? []).map((name) => `guardrail ${name}`)];
  return names.length === 0 ? [] : [style.dim(`not in the document, left unchanged: ${plain(names.join(', '))}`)];
}
