import type { ApiError } from '../client/errors.ts';
import { Failure, rejected } from './failure.ts';
import { ownOrganizations } from './own-organizations.ts';
import type { Session } from './session.ts';
import { didYouMean } from './suggest.ts';

const ABOUT: Readonly<Record<string, 'organization' | 'user'>> = {
  organization_not_found: 'organization',
  user_not_found: 'user',
};

type Typed = Readonly<Record<string, string | readonly string[] | undefined>>;

/** For a 404 about a name that the user typed: says which name it is, and suggests a similar one. */
export async function withHint(error: ApiError, session: Session, args: Typed): Promise<Error> {
  const about = ABOUT[error.reason];
  const typed = about === 'organization' ? (word(args.org) ?? session.orgIfAny()) : word(args.user ?? args.who);
  if (about === undefined || typed === undefined || error.status !== 404) return error;
  try {
    const known = about === 'organization' ? await organizations(session) : await users(session, typed);
    const where = about === 'organization' ? ' that you can see' : '';
    return rejected(`there is no ${about} named ${JSON.stringify(typed)}${where}${didYouMean(typed, known)}`);
  } catch (failure) {
    return failure instanceof Failure ? failure : error;
  }
}

/** If there are several names, it is unknown which one was rejected. */
function word(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.length === 1 ? value[0] : undefined;
}

async function organizations(session: Session): Promise<string[]> {
  return await ownOrganizations(session.client());
}

/** Users whose name starts the same way: a typo is rarely in the first two characters. */
async function users(session: Session, typed: string): Promise<string[]> {
  const { data } = await session.client().call('GET /users/search', { query: { q: typed.slice(0, 2), limit: 50 } });
  return data.map(({ login }) => login);
}
