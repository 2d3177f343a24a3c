import { AppError } from '../../base/errors.ts';
import type { WebhookDraft } from '../../webhooks/webhook.ts';
import { withoutQuery } from '../../webhooks/webhook-url.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { CallerRights } from '../caller-rights.ts';
import type { Section, WebhookEntry } from '../organization-document.ts';
import type { StoredWebhook } from '../organization-now.ts';
import { createFaults, type FileChange, matchNames, quote } from './file-change.ts';

/** A webhook as it is after the file, if that is not as it was. */
export interface WebhookAfter {
  /** Undefined: the file creates it. */
  readonly current: StoredWebhook | undefined;
  readonly draft: WebhookDraft;
}

export interface WebhookPlan {
  readonly webhooks: readonly WebhookAfter[];
  readonly deletes: readonly StoredWebhook[];
  /** How many there are after the file. */
  readonly count: number;
  readonly changes: readonly FileChange[];
  readonly unchanged: number;
  readonly unmanaged: readonly string[];
}

/** Without the section, everything stays. */
export function planWebhooks(
  stored: readonly StoredWebhook[],
  section: Section<WebhookEntry> | undefined,
  rights: CallerRights,
  check: Webhooks['check'],
): WebhookPlan {
  const faults = createFaults();
  const { pairs, others } = matchNames('webhooks', section?.items ?? [], stored, faults);
  const drafts = pairs.map(({ entry, place, current }) => {
    const draft = draftOf(entry, current);
    return { current, draft: isSame(current, draft) ? draft : checked(draft, `webhooks[${place}]`) };
  });
  faults.settle();
  const webhooks = drafts.filter(({ current, draft }) => !isSame(current, draft));
  const [deletes, kept] = section?.prunes ? [others, []] : [[], others];
  const rule = () => {
    rights.require('can_edit', 'edit:org');
    rights.requireProof();
  };
  const changes = [
    ...webhooks.map(({ current, draft }): FileChange => {
      const kind = current ? 'update' : 'create';
      return { section: 'webhooks', name: draft.name, kind, words: wordsOf(current, draft), rule };
    }),
    ...deletes.map(({ name }): FileChange => ({ section: 'webhooks', name, kind: 'delete', words: [], rule })),
  ];
  return {
    ...{ webhooks, deletes, changes, count: kept.length + drafts.length },
    unchanged: drafts.length - webhooks.length,
    unmanaged: section ? kept.map(({ name }) => name) : [],
  };

  function checked(draft: WebhookDraft, at: string): WebhookDraft {
    try {
      return check(draft);
    } catch (error) {
      if (!(error instanceof AppError) || !error.detail.errors) throw error;
      for (const { field, message } of error.detail.errors) faults.add(`${at}.${field}`, message);
      return draft;
    }
  }
}

function draftOf(entry: WebhookEntry, current: StoredWebhook | undefined): WebhookDraft {
  return {
    name: entry.name,
    url: entry.url ?? current?.url ?? '',
    types: entry.types ?? current?.types ?? ['*'],
    format: (entry.format ?? current?.format ?? 'standard') as WebhookDraft['format'],
    active: entry.active ?? current?.active ?? true,
  };
}

function isSame(current: StoredWebhook | undefined, draft: WebhookDraft): boolean {
  const said = ({ name, url, types, format, active }: WebhookDraft) =>
    JSON.stringify([name, url, types, format, active]);
  return current !== undefined && said(current) === said(draft);
}

/** People put tokens into the query of a URL, and plans are shown in pull requests. */
function wordsOf(current: StoredWebhook | undefined, { name, url, types, format, active }: WebhookDraft): string[] {
  const place = withoutQuery(url);
  const isOtherQuery = current && current.url !== url && withoutQuery(current.url) === place;
  return [
    ...(current && current.name !== name ? [`name ${quote(current.name)} → ${quote(name)}`] : []),
    ...(current?.url === url ? [] : [`url ${quote(place)}${isOtherQuery ? ' with another query' : ''}`]),
    ...(current?.types.join() === types.join() ? [] : [`types ${types.join(', ')}`]),
    ...(current?.format === format ? [] : [`format ${format}`]),
    ...(current?.active === active ? [] : [`active ${active}`]),
  ];
}
