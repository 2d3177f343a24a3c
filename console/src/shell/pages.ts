import type { ComponentType } from 'preact';
import { lazy } from 'preact-iso';
import { untilLoaded } from './broken-page.ts';
import type { Load, PageTable } from './page-table.ts';
import { ACCOUNT_PATHS, ADMINISTRATION_PATHS, ORGANIZATION_PATHS } from './paths.ts';

export interface PageRoute {
  readonly path: string;
  /** A page with several addresses stays as it is from one of them to the other. */
  readonly key: string;
  readonly page: ComponentType;
}

const page = (path: string, load: Load): PageRoute => ({
  path,
  key: path,
  // Offline, or after an update of the server, the file of a page is not there.
  page: lazy(async () => ({ default: await load().catch(() => untilLoaded(load)) })) as ComponentType,
});

/** Opens a session, so it is outside of the shell. */
export const { page: WelcomePage } = page(
  '/welcome',
  async () => (await import('../pages/doors/welcome.tsx')).WelcomePage,
);

/** For visitors who may not be signed in yet. */
export const { page: LinkAccountPage } = page(
  '/signin/link',
  async () => (await import('../pages/doors/link-account.tsx')).LinkAccountPage,
);

/** For users who cannot sign in. */
export const { page: ForgotPasswordPage } = page(
  '/signin/forgot',
  async () => (await import('../pages/doors/forgot-password.tsx')).ForgotPasswordPage,
);
export const { page: ResetPasswordPage } = page(
  '/signin/reset',
  async () => (await import('../pages/doors/reset-password.tsx')).ResetPasswordPage,
);

/** Asks for an address first, and with the code of the email for the rest. */
export const { page: SignUpPage } = page(
  '/signin/signup',
  async () => (await import('../pages/doors/sign-up.tsx')).SignUpPage,
);

/** The recipient of an invitation may not be signed in, or have no account. */
export const { page: InvitationPage } = page(
  '/invitations/:code',
  async () => (await import('../pages/doors/invitation.tsx')).InvitationPage,
);

/** In a window that was opened to sign in. */
export const { page: SignInDonePage } = page(
  '/signin/done',
  async () => (await import('../pages/doors/sign-in-done.tsx')).SignInDonePage,
);

const account = async () => (await import('./account-pages.ts')).ACCOUNT_PAGES;
const administration = async () => (await import('./administration-pages.ts')).ADMINISTRATION_PAGES;
const organization = async () => (await import('./organization-pages.ts')).ORGANIZATION_PAGES;

/** Pages whose files only the table of their area names: most visits need one area. */
function pagesOf<Path extends string>(paths: readonly Path[], table: () => Promise<PageTable<Path>>): PageRoute[] {
  return paths.map((path) => page(path, async () => (await table())[path]()));
}

/** Asks for the table of the area before the page is there that needs it. */
export function preloadArea(path: string): void {
  const area = /^\/(me|admin|orgs)\/?/.exec(path)?.[1];
  const table =
    area === 'me' ? account : area === 'admin' ? administration : area === 'orgs' ? organization : undefined;
  // If it cannot be had, the page says so.
  table?.().catch(() => undefined);
}

const organizationPages = pagesOf(ORGANIZATION_PATHS, organization);
const teams = organizationPages.find(({ path }) => path === '/orgs/:org/teams');

/** Every page, by its address. The server serves the same document under all of their roots. */
export const PAGES: readonly PageRoute[] = [
  page('/', async () => (await import('../pages/home/home.tsx')).HomePage),
  page('/signin', async () => (await import('../pages/doors/signed-in.tsx')).SignedInPage),
  page('/orgs', async () => (await import('../pages/orgs/orgs.tsx')).OrgsPage),
  // Before the page of an organization, which it would otherwise be.
  page('/orgs/new', async () => (await import('../pages/orgs/new-org.tsx')).NewOrgPage),
  ...organizationPages.map((one) =>
    one.path === '/orgs/:org/teams/new' && teams ? { ...teams, path: one.path } : one,
  ),
  ...pagesOf(ACCOUNT_PATHS, account),
  ...pagesOf(ADMINISTRATION_PATHS, administration),
  page('/model', async () => (await import('../pages/model/model.tsx')).ModelPage),
  page('*', async () => (await import('../pages/home/nothing-here.tsx')).NothingHerePage),
];
