import type { ComponentChildren } from 'preact';
import { Page } from '../../parts/page.tsx';
import './me.css';

export interface MePageProps {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly isStale?: boolean | undefined;
}

/** The frame of everything that belongs to the signed-in user. */
export function MePage({ children, ...page }: MePageProps) {
  return (
    <Page {...page} within="My account">
      {children}
    </Page>
  );
}
