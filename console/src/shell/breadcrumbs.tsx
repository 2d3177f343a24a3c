import { useCurrentOrg } from './current-org.ts';
import { accountGroups, administrationGroups, contextOf, currentOf, organizationGroups } from './menu.ts';

interface Crumb {
  readonly href: string;
  readonly title: string;
}

/** Where the page is: its organization, and the list that it belongs to. The heading is the page itself. */
export function Breadcrumbs({ path }: { path: string }) {
  const crumbs = crumbsOf(path, useCurrentOrg());
  return (
    <nav class="crumbs small quiet" aria-label="Breadcrumbs">
      <ol class="line">
        {crumbs.map(({ href, title }) => (
          <li key={href}>
            <a href={href}>
              <bdi>{title}</bdi>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function crumbsOf(path: string, org: string | undefined): readonly Crumb[] {
  const context = contextOf(path);
  if (context === 'administration')
    return above(path, { href: '/admin', title: 'Administration' }, administrationGroups());
  if (context === 'account') return above(path, { href: '/me', title: 'My account' }, accountGroups());
  const root = /^\/orgs\/(?!new(?:\/|$))[^/]+/.exec(path)?.[0];
  if (root === undefined || org === undefined) return [];
  return above(path, { href: root, title: org }, organizationGroups(org));
}

function above(path: string, root: Crumb, groups: Parameters<typeof currentOf>[0]): readonly Crumb[] {
  const list = currentOf(groups, path);
  return [root, ...(list && list.href !== root.href ? [list] : [])].filter(({ href }) => href !== path);
}
