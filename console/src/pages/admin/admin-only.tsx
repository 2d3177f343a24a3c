import type { ComponentChildren } from 'preact';
import { pageData } from '../../data/page-data.ts';
import { isSiteAdmin } from '../../data/session.ts';
import { Page } from '../../parts/page.tsx';

interface AdminOnlyProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** What only site administrators may see. To other users it says so, and asks the server nothing. */
export function AdminOnly({ title, children }: AdminOnlyProps) {
  if (isSiteAdmin.value) return <>{children}</>;
  return (
    <Page title={title} within="Administration">
      <div class="card forbidden">
        <h2>You cannot see this</h2>
        <p>Only site administrators can. They look after this whole deployment, not a single organization.</p>
        <p class="quiet">
          A site administrator can make you one. If you do not know who that is, ask the owners of your organization.
        </p>
      </div>
    </Page>
  );
}

/** The same for pages about marketplaces, which most deployments do not have. */
export function MarketplaceOnly({ title, children }: AdminOnlyProps) {
  if (pageData.features.marketplace) return <AdminOnly title={title}>{children}</AdminOnly>;
  return (
    <AdminOnly title={title}>
      <Page title={title} within="Administration">
        <div class="empty">
          <p>
            This deployment does not receive notifications of cloud marketplaces. The operator of the server can turn
            that on with a setting, and restart it.
          </p>
          <code>DEPLOYMENT=marketplace</code>
        </div>
      </Page>
    </AdminOnly>
  );
}
