import type { ComponentChildren } from 'preact';

export type Tone = 'ok' | 'bad' | 'warn' | 'info' | 'quiet' | 'mark';

export function Chip({ children, tone = 'quiet' }: { children: ComponentChildren; tone?: Tone }) {
  return <span class={`chip ${tone}`}>{children}</span>;
}

const PHASE_TONES: Readonly<Record<string, Tone>> = {
  Active: 'ok',
  Running: 'ok',
  Connected: 'ok',
  Ready: 'ok',
  NotReady: 'warn',
  Inactive: 'warn',
  NotConnected: 'warn',
  Registered: 'info',
  NotImported: 'info',
  Lost: 'bad',
  Failed: 'bad',
  PrivateConnected: 'info',
};

export function phaseTone(phase: string): Tone {
  return PHASE_TONES[phase] ?? 'quiet';
}

/** The state of a cluster: a dot and the word, never the color alone. */
export function Phase({ phase }: { phase: string }) {
  return (
    <span class={`phase ${phaseTone(phase)}`}>
      <span class="dot" aria-hidden="true" />
      {phase || 'Unknown'}
    </span>
  );
}

/** Decorative: the name is always next to it. */
export function Avatar({ url, size = 20 }: { url: string; size?: number }) {
  const src = url.startsWith('http') ? new URL(url).pathname : url;
  return <img class="avatar" src={src} width={size} height={size} alt="" loading="lazy" />;
}

/** In a list, without a picture: fifty pictures are fifty requests, and half of what a page may weigh. */
export function Person({ login, fullName }: { login: string; fullName?: string }) {
  return (
    <span class="person">
      <bdi class="strong">{login}</bdi>
      {fullName && fullName !== login && <bdi class="quiet cut">{fullName}</bdi>}
    </span>
  );
}

/** A link only if it leads to the web; anything else is text. */
export function WebLink({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return <bdi>{url}</bdi>;
  return (
    <a href={url} rel="noopener noreferrer" target="_blank">
      {url}
    </a>
  );
}

export interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
}

/** Names and values, such as the details of a cluster. */
export function Facts({ of }: { of: readonly Fact[] }) {
  return (
    <dl class="facts">
      {of.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === '' || value === undefined ? <span class="quiet">not set</span> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface CardProps {
  readonly title?: string;
  readonly children: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** What a link of the page leads to. */
  readonly id?: string | undefined;
}

export function Card({ title, children, actions, id }: CardProps) {
  return (
    <section class="card" id={id}>
      {(title || actions) && (
        <header class="line apart">
          {title && <h2>{title}</h2>}
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}

export interface Segment {
  readonly label: string;
  readonly count: number;
  readonly tone: Tone;
  readonly href?: string | undefined;
}

/** Parts of a whole, such as clusters by phase; the legend says the same in words. */
export function StackedBar({ segments }: { segments: readonly Segment[] }) {
  const total = segments.reduce((sum, { count }) => sum + count, 0);
  let x = 0;
  return (
    <div class="stacked">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        {segments.map(({ label, count, tone }) => {
          const width = total === 0 ? 0 : (100 * count) / total;
          const left = x;
          x += width;
          return <rect key={label} class={`fill ${tone}`} x={left} y="0" width={Math.max(0, width - 0.4)} height="8" />;
        })}
      </svg>
      <ul class="line">
        {segments.map(({ label, count, tone, href }) => (
          <li key={label} class={`phase ${tone}`}>
            <span class="dot" aria-hidden="true" />
            {href ? <a href={href}>{`${count} ${label}`}</a> : `${count} ${label}`}
          </li>
        ))}
      </ul>
    </div>
  );
}

export interface Tab {
  readonly href: string;
  readonly title: string;
}

/** Parts of one object, each with its own address. */
export function Tabs({ tabs, current, label }: { tabs: readonly Tab[]; current: string; label: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ href, title }) => (
        <a key={href} href={href} aria-current={href === current ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
