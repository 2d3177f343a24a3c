import type { NewTrustRuleInput } from '../../client/api.gen.ts';
import type { Answer } from '../../client/client.ts';
import { command, type Group } from '../command.ts';
import { EXIT, misuse, rejected } from '../failure.ts';
import { shortTime } from '../moments.ts';
import { findObject, findResource, idOf } from '../names.ts';
import { asJson, type Columns, list, one, said, verbatim } from '../output.ts';
import type { Session } from '../session.ts';
import { confirm, readInput } from '../terminal.ts';
import { asScopes } from './token.ts';

type Rule = Answer<'GET /robots/{id}/trust_rules/{rule}'>;
type RuleBody = NewTrustRuleInput;
type Explained = Answer<'POST /robots/{id}/trust_rules/explain'>;

const robot_ = { about: 'name or ID of the robot account', kind: 'robot' } as const;
const rule_ = { about: 'name or ID of the trust rule' } as const;
const columns: Columns<Rule> = {
  id: (row) => row.id,
  name: (row) => row.name,
  issuer: (row) => row.issuer,
  claims: (row) => Object.entries(row.claims).map(([claim, value]) => `${claim}=${value}`),
  scopes: (row) => row.scopes.join(', '),
  lifetime: (row) => row.lifetime,
  live: (row) => row.live_tokens,
  'last used': (row) => (row.last_used_at === null ? 'never' : shortTime(row.last_used_at)),
};

const options = {
  issuer: { about: 'issuer of the tokens, such as https://token.actions.githubusercontent.com', value: 'URL' },
  audience: { about: 'audience of the tokens; by default the address of the server', value: 'TEXT' },
  claim: {
    about: 'what a token must say, such as repository_id=123 or ref=refs/tags/*',
    value: 'NAME=VALUE',
    many: true,
  },
  jwks: { about: 'file with the public keys of an issuer that the server cannot reach', value: 'FILE' },
  scope: { about: 'scope of the issued tokens; write:organization by default', value: 'SCOPE', many: true },
  lifetime: { about: 'how long issued tokens work, from PT1M to PT1H, which is the default', value: 'DURATION' },
  reusable: { about: 'accept a token more than once; what is issued for it then ends with it' },
  'limit-org': { about: 'limit issued tokens to this organization', value: 'NAME', many: true, kind: 'org' },
  limit: {
    about: 'limit issued tokens to this object, such as cluster:prod',
    value: 'OBJECT',
    many: true,
    kind: 'object',
  },
} as const;

interface Given {
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly claim: readonly string[];
  readonly jwks: string | undefined;
  readonly scope: readonly string[];
  readonly lifetime: string | undefined;
  readonly reusable: boolean;
  readonly 'limit-org': readonly string[];
  readonly limit: readonly string[];
}

export const trust: Group = {
  summary: 'manage which tokens of build platforms and clusters a robot account accepts',
  commands: {
    list: command({
      summary: 'list the trust rules of a robot account',
      args: { robot: robot_ },
      examples: ['atrium robot trust list deploy'],
      watch: { ignore: ['last_used_at'] },
      async run(session, { args }) {
        const path = { id: await idOf(session, 'robot', args.robot) };
        return list(await session.client().call('GET /robots/{id}/trust_rules', { path }), columns, 'none');
      },
    }),
    show: command({
      summary: 'show a trust rule of a robot account',
      args: { robot: robot_, rule: rule_ },
      examples: ['atrium robot trust show deploy main'],
      async run(session, { args }) {
        const path = { id: await idOf(session, 'robot', args.robot), rule: args.rule };
        return one(await session.client().call('GET /robots/{id}/trust_rules/{rule}', { path }), columns);
      },
    }),
    create: command({
      summary: 'let a robot account sign in with tokens of an issuer',
      details:
        'Bind the rule to IDs, which are never given to another repository or project. A value is exact, or ends in * ' +
        'after one of / : - _ . @',
      args: { robot: robot_, name: { about: 'name of the trust rule' } },
      options,
      examples: [
        'atrium robot trust create deploy main --issuer https://token.actions.githubusercontent.com --claim repository_id=123456789 --claim ref=refs/heads/main',
        'atrium robot trust create deploy gitlab --issuer https://gitlab.example.com --claim project_id=42 --claim ref_protected=true',
        'atrium robot trust create deploy prod --issuer https://kubernetes.default.svc --jwks keys.json --claim sub=system:serviceaccount:prod:deploy --reusable',
      ],
      async run(session, { args, options: given }) {
        if (given.issuer === undefined) throw misuse('--issuer is required');
        if (given.claim.length === 0) throw misuse('--claim NAME=VALUE is required: it says whose tokens are accepted');
        const path = { id: await idOf(session, 'robot', args.robot) };
        const body = { ...(await changesOf(session, given)), name: args.name } as RuleBody;
        return one(await session.client().call('POST /robots/{id}/trust_rules', { path, body }), columns);
      },
    }),
    update: command({
      summary: 'change a trust rule; only the given fields change, and its tokens end unless only its name does',
      args: { robot: robot_, rule: rule_ },
      options: {
        ...options,
        name: { about: 'new name', value: 'NAME' },
        'single-use': { about: 'accept a token once' },
      },
      examples: ['atrium robot trust update deploy main --lifetime PT10M'],
      async run(session, { args, options: given }) {
        if (given.reusable && given['single-use']) throw misuse('--reusable cannot be combined with --single-use');
        const path = { id: await idOf(session, 'robot', args.robot), rule: args.rule };
        const current = await session.client().call('GET /robots/{id}/trust_rules/{rule}', { path });
        const body = {
          ...bodyOf(current),
          ...(await changesOf(session, given)),
          ...(given.name !== undefined && { name: given.name }),
          ...(given['single-use'] && { single_use: true }),
        } as RuleBody;
        return one(await session.client().call('PUT /robots/{id}/trust_rules/{rule}', { path, body }), columns);
      },
    }),
    delete: command({
      summary: 'delete a trust rule; its tokens end immediately',
      args: { robot: robot_, rule: rule_ },
      examples: ['atrium robot trust delete deploy main --yes'],
      async run(session, { args }) {
        const { id, name } = await findResource(session, 'robot', args.robot);
        await confirm(session, `Delete the trust rule ${args.rule} of the robot account ${name}, and end its tokens?`);
        await session.client().call('DELETE /robots/{id}/trust_rules/{rule}', { path: { id, rule: args.rule } });
        return said(`deleted ${args.rule}`);
      },
    }),
    explain: command({
      summary: 'explain claim by claim which trust rule would accept an outside JWT, or why none does',
      details: 'It is neither stored nor used up. Exits with 1 if no rule would accept it.',
      args: { robot: robot_, file: { about: 'file with the JWT; by default standard input', optional: true } },
      examples: ['atrium robot trust explain deploy jwt.txt', 'atrium robot trust explain deploy < jwt.txt'],
      async run(session, { args }) {
        const path = { id: await idOf(session, 'robot', args.robot) };
        const body = { token: (await readInput(args.file ?? '-')).trim() };
        const found = await session.client().call('POST /robots/{id}/trust_rules/explain', { path, body });
        const shown = verbatim(explanationText(found), found);
        return found.accepted ? shown : { ...shown, exit: EXIT.rejected };
      },
    }),
  },
};

/** What a rule is replaced with if nothing else is said. */
function bodyOf({ name, issuer, audience, jwks, claims, scopes, limits, lifetime, single_use }: Rule) {
  const objects = limits?.objects.map(({ type, id }) => ({ type, id })) ?? [];
  const organizations = limits?.organizations.map((organization) => organization.name) ?? [];
  return {
    ...{ name, issuer, audience, claims, scopes, lifetime, single_use },
    ...(jwks !== null && { jwks }),
    ...(limits && { limits: { organizations, objects } }),
  };
}

async function changesOf(session: Session, given: Given): Promise<Partial<RuleBody>> {
  const found = await Promise.all(given.limit.map((text) => findObject(session, text)));
  const names = found.filter(({ type }) => type === 'organization').map(({ name }) => name);
  const objects = found.filter(({ type }) => type !== 'organization').map(({ type, id }) => ({ type, id }));
  const organizations = [...given['limit-org'], ...names];
  const isLimited = organizations.length + objects.length > 0;
  return {
    ...(given.issuer !== undefined && { issuer: given.issuer }),
    ...(given.audience !== undefined && { audience: given.audience }),
    ...(given.claim.length > 0 && { claims: Object.fromEntries(given.claim.map(readClaim)) }),
    ...(given.jwks !== undefined && { jwks: await readKeys(given.jwks) }),
    ...(given.scope.length > 0 && { scopes: asScopes(given.scope) }),
    ...(given.lifetime !== undefined && { lifetime: given.lifetime }),
    ...(given.reusable && { single_use: false }),
    ...(isLimited && { limits: { organizations, objects } as NonNullable<RuleBody['limits']> }),
  };
}

function readClaim(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw misuse(`--claim must be NAME=VALUE, got ${JSON.stringify(text.slice(0, 100))}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

async function readKeys(file: string): Promise<NonNullable<RuleBody['jwks']>> {
  try {
    return JSON.parse(await readInput(file)) as NonNullable<RuleBody['jwks']>;
  } catch (error) {
    if (error instanceof SyntaxError) throw rejected(`${file} is not JSON; it must be a JSON Web Key Set`);
    throw error;
  }
}

function explanationText({ rules }: Explained): string {
  if (rules.length === 0) return 'no: the robot account has no trust rules';
  return rules
    .flatMap(({ name, accepted, checks }) => [
      `${accepted ? 'yes' : 'no '}  rule ${name}`,
      ...checks.map(({ what, claim, wanted, got, holds }) =>
        holds
          ? `  ok    ${claim ?? what}: ${got ?? wanted}`
          : `  wrong ${claim ?? what}: wanted ${wanted}, got ${got === null ? 'nothing' : asJson(got, 0)}`,
      ),
    ])
    .join('\n');
}
