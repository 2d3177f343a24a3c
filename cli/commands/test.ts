import { writeFileSync } from 'node:fs';
import { command } from '../command.ts';
import { readDocument } from '../documents.ts';
import { EXIT } from '../failure.ts';
import { all, findObject } from '../names.ts';
import type { Shown, Style } from '../output.ts';
import { type Assertion, readPolicy } from '../policy.ts';
import type { Session } from '../session.ts';
import { readInput } from '../terminal.ts';
import { plain } from '../text.ts';

interface Result {
  readonly name: string;
  readonly passed: boolean;
  readonly message?: string;
}

const CHECKS_AT_ONCE = 1000;
const LISTS_AT_ONCE = 8;

export const test = command({
  summary: 'check a file of assertions about who can do what, for example in CI',
  details:
    'Exits 0 if all assertions hold and 1 if one does not. A mistyped name is a failure, not a no. ' +
    'A file is a list of assertions, such as "- {user: eve, cannot: connect, object: cluster:prod}" or ' +
    '"- {who_can: {relation: edit, object: org:acme}, equals: [ann]}".',
  exitIfRefused: EXIT.usage,
  args: { file: { about: 'the assertions, YAML or JSON; - for standard input', kind: 'file' } },
  options: {
    quiet: { about: 'print only failures and the summary', short: 'q' },
    junit: { about: 'also write the results to this file, as JUnit XML', value: 'FILE', kind: 'file' },
  },
  examples: [
    'atrium test policy.yaml --org acme',
    'atrium test policy.yaml -o json',
    'atrium test policy.yaml --junit out.xml',
  ],
  async run(session, { args, options }): Promise<Shown> {
    const { text } = await readDocument(await readInput(args.file), args.file);
    const { parse } = await import('yaml');
    const { organization, assertions } = readPolicy(parse(text), args.file);
    const org = session.orgIfAny() ?? organization ?? session.org();
    const results = await judged(session, org, assertions);
    const failed = results.filter(({ passed }) => !passed);
    const passed = results.length - failed.length;
    if (options.junit !== undefined) writeFileSync(options.junit, junit(args.file, results));
    return {
      data: { passed, failed: failed.length, tests: results },
      exit: failed.length > 0 ? EXIT.rejected : 0,
      lay: (style) => [
        ...(options.quiet ? failed : results).map((result) => line(style, result)),
        `${passed} passed, ${failed.length} failed`,
      ],
    };
  },
});

async function judged(session: Session, org: string, assertions: readonly Assertion[]): Promise<Result[]> {
  const results = new Map<Assertion, Result>();
  const checks = assertions.flatMap((one) => ('whoCan' in one ? [] : [one]));
  for (let first = 0; first < checks.length; first += CHECKS_AT_ONCE) {
    const part = checks.slice(first, first + CHECKS_AT_ONCE);
    const body = { checks: part.map(({ user, relation, object }) => ({ user, relation, object })) };
    const answer = await session.client().call('POST /authz/check', { query: { org }, body });
    for (const [place, one] of part.entries()) {
      const { allowed = false, fault = undefined } = answer.results[place] ?? {};
      const message = fault ?? `${one.user ?? 'you'} ${allowed ? 'can' : 'cannot'}`;
      const passed = fault === undefined && allowed === one.isAllowed;
      results.set(one, { name: one.name, passed, ...(!passed && { message }) });
    }
  }
  const lists = assertions.flatMap((one) => ('whoCan' in one ? [one] : []));
  const next = lists.values();
  await Promise.all(
    Array.from({ length: LISTS_AT_ONCE }, async () => {
      for (const one of next) results.set(one, { name: one.name, ...(await listed(session, org, one)) });
    }),
  );
  return assertions.flatMap((one) => results.get(one) ?? []);
}

type Listed = Extract<Assertion, { readonly whoCan: unknown }>;

async function listed(session: Session, org: string, { whoCan, equals }: Listed): Promise<Omit<Result, 'name'>> {
  const object = await findObject(session, whoCan.object);
  const people = session.client().each('GET /authz/objects/{objectType}/{objID}/principals', {
    path: { objectType: object.type, objID: object.id },
    query: { org, relation: whoCan.relation },
  });
  const found = (await all(people)).map(({ name }) => name.toLowerCase()).sort();
  const wanted = [...new Set(equals.map((name) => name.toLowerCase()))].sort();
  if (found.join() === wanted.join()) return { passed: true };
  const more = found.filter((name) => !wanted.includes(name));
  const less = wanted.filter((name) => !found.includes(name));
  const parts = [
    ...(more.length > 0 ? [`also ${more.join(', ')}`] : []),
    ...(less.length > 0 ? [`not ${less.join(', ')}`] : []),
  ];
  return { passed: false, message: parts.join('; ') };
}

function line(style: Style, { name, passed, message }: Result): string {
  return passed
    ? `${style.good('ok')}    ${plain(name)}`
    : `${style.bad('FAIL')}  ${plain(name)}: ${plain(message ?? '')}`;
}

function junit(file: string, results: readonly Result[]): string {
  const cases = results.map(({ name, passed, message = '' }) => {
    const open = `  <testcase classname="policy" name="${inXml(name)}"`;
    return passed ? `${open}/>` : `${open}><failure message="${inXml(message)}"/></testcase>`;
  });
  const failures = results.filter(({ passed }) => !passed).length;
  const head = `<testsuite name="${inXml(file)}" tests="${results.length}" failures="${failures}">`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${head}\n${cases.join('\n')}\n</testsuite>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function inXml(text: string): string {
  return plain(text).replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);
}
