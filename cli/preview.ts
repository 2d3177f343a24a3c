import type { Input } from '../client/client.ts';
import { EXIT } from './failure.ts';
import type { Impact } from './impact.ts';
import type { Shown } from './output.ts';
import type { Session } from './session.ts';

type Plan = Exclude<Input<'POST /authz/preview'>['body'], { readonly type: string }>;
type PlannedChange = Plan['changes'][number];

/** The option of every command that changes who may do what. */
export const PREVIEW = {
  preview: {
    about: 'change nothing; show who would gain and lose what; exits 1 if the change would be rejected',
  },
} as const;

/** What changes would do, as the server works it out. */
export async function previewOf(session: Session, changes: readonly PlannedChange[]): Promise<Impact> {
  const query = { org: session.org() };
  return await session.client().call('POST /authz/preview', { query, body: { changes } });
}

export async function impactOf(session: Session, changes: readonly PlannedChange[]): Promise<Shown> {
  const impact = await previewOf(session, changes);
  return await shown(impact, undefined, impact.refusals.length > 0 ? EXIT.rejected : 0);
}

/** What will have changed by itself. */
export async function forecastOf(session: Session, at: string): Promise<Shown> {
  const query = { org: session.org() };
  const impact = await session.client().call('POST /authz/preview', { query, body: { changes: [], at } });
  return await shown(impact, at, 0);
}

/** Commands that can preview seldom do, so what finds the words is loaded only then. */
async function shown(impact: Impact, at: string | undefined, exit: number): Promise<Shown> {
  const { linesOf } = await import('./impact.ts');
  return {
    data: impact,
    names: impact.users.map(({ user }) => user.name),
    lay: (style) => linesOf(impact, style, at),
    exit,
  };
}
