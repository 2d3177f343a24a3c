import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import { useIsOrgHidden, type WhyNotQuestion } from '../data/org.ts';
import { AskLink, Fault } from './fault.tsx';
import { WhyNotAnswer } from './why-not.tsx';

export interface PageProps {
  readonly title: string;
  /** What the title stands in, such as the organization, for the title of the window. */
  readonly within?: string | undefined;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly isStale?: boolean | undefined;
}

/** The frame of every page. The focus moves to the heading, so that screen readers announce it. */
export function Page({ title, within, lead, actions, children, isStale }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // What cannot be seen cannot be changed.
  const isHidden = useIsOrgHidden();
  const windowTitle = [title, within, 'Atrium'].filter(Boolean).join(' · ');
  useEffect(() => {
    document.title = windowTitle;
  }, [windowTitle]);
  useEffect(() => {
    // A field or dialog that took the focus keeps it; the link that led here does not.
    if (!document.activeElement?.closest('dialog, main :is(input, select, textarea)')) heading.current?.focus();
  }, []);
  return (
    <div class={`page ${isStale ? 'stale' : ''}`}>
      <header class="page-head">
        <div class="grow">
          <h1 ref={heading} tabIndex={-1}>
            <bdi>{title}</bdi>
          </h1>
          {lead && <p class="quiet">{lead}</p>}
        </div>
        {actions && !isHidden && <div class="line">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface Loaded<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly reload: () => void;
  readonly isStale?: boolean;
}

export interface ShowProps<Data> {
  readonly of: Loaded<Data>;
  readonly children: (data: NonNullable<Data>) => ComponentChildren;
  /** What a rejection is about, so that it can be explained. */
  readonly whyNot?: WhyNotQuestion | undefined;
  readonly rows?: number | undefined;
}

/** One treatment of loading, errors and rejections for everything that is loaded. */
export function Show<Data>({ of, children, whyNot, rows = 4 }: ShowProps<Data>) {
  const { data, error, reload } = of;
  if (data !== undefined && data !== null) {
    return (
      <>
        {error !== undefined && <Fault error={error} onRetry={reload} />}
        {children(data as NonNullable<Data>)}
      </>
    );
  }
  if (error instanceof ApiError && (error.status === 403 || error.status === 404)) {
    return (
      <div class="card forbidden">
        <h2>You cannot see this</h2>
        {whyNot ? (
          <WhyNotAnswer question={whyNot} />
        ) : (
          <>
            <p>
              It does not exist, or you may not see it. An owner of the organization or a site administrator can help.
            </p>
            <AskLink error={error} />
          </>
        )}
      </div>
    );
  }
  if (error !== undefined) return <Fault error={error} onRetry={reload} />;
  return <Loading rows={rows} />;
}

/** For a page whose title is loaded. If it cannot be loaded, the page still has a heading. */
export function ShowPage<Data>({ title, within, ...show }: ShowProps<Data> & { title: string; within?: string }) {
  if (show.of.data !== undefined || show.of.error === undefined) return <Show {...show} />;
  return (
    <Page title={title} within={within}>
      <Show {...show} />
    </Page>
  );
}

/** Invisible for a moment, then quiet bars where rows will be. */
export function Loading({ rows = 4 }: { rows?: number }) {
  return (
    <div class="loading" role="status">
      <span class="only-read">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} class="bar" aria-hidden="true" />
      ))}
    </div>
  );
}

export interface EmptyProps {
  /** One sentence that says what belongs here. */
  readonly text: string;
  readonly action?: ComponentChildren;
  /** The command that does the same. */
  readonly command?: string | undefined;
}

export function Empty({ text, action, command }: EmptyProps) {
  return (
    <div class="empty">
      <p>{text}</p>
      {action}
      {command !== undefined && <code>{command}</code>}
    </div>
  );
}
