import type { SignedTexts } from '../base/signed-text.ts';
import type { AskedQuestion } from './evaluation.ts';

/** What a denial was about: what `evaluation_id` stands for. */
export interface Denial {
  readonly organizationId: bigint;
  readonly subjectId: bigint;
  readonly relation: string;
  readonly object: string;
  readonly namespace: string | null;
}

const LIFETIME_MS = 10 * 60_000;
/** A denial that has ended is told from one that was made up. */
const REMEMBERED_MS = 24 * 3_600_000;

export type SignedDenials = ReturnType<typeof createSignedDenials>;

const MAX_SIGNED = 1000;

/**
 * Denials that can be asked about, as signed texts: none is stored. They end with a whole second, so that one that is
 * repeated in the same second is the same text: a signature takes as long as the decision.
 */
export function createSignedDenials(texts: SignedTexts) {
  let signed = new Map<string, string>();
  let endingAt = 0;
  return { make, read };

  function make(
    organizationId: bigint,
    { subject, relation, object }: AskedQuestion,
    now: Date,
  ): { readonly id: string; readonly expiresAt: Date } {
    const expiresAt = new Date(Math.floor(now.getTime() / 1000) * 1000 + LIFETIME_MS);
    const namespace = object.namespace ?? null;
    const about = [String(organizationId), String(subject.id), relation, `${object.type}:${object.id}`, namespace];
    const content = JSON.stringify([...about, expiresAt.getTime()]);
    if (expiresAt.getTime() !== endingAt || signed.size >= MAX_SIGNED) signed = new Map();
    endingAt = expiresAt.getTime();
    const id = signed.get(content) ?? `eval_${texts.make(content, new Date(endingAt + REMEMBERED_MS))}`;
    signed.set(content, id);
    return { id, expiresAt };
  }

  /** Undefined for a text that is no denial of this server. */
  function read(id: string, now: Date): (Denial & { readonly hasEnded: boolean }) | undefined {
    const content = id.startsWith('eval_') ? texts.read(id.slice('eval_'.length), now) : undefined;
    if (content === undefined) return undefined;
    const [organizationId, subjectId, relation, object, namespace, until] = JSON.parse(content) as [
      ...[string, string, string, string, string | null, number],
    ];
    return {
      ...{ organizationId: BigInt(organizationId), subjectId: BigInt(subjectId), relation, object, namespace },
      hasEnded: now.getTime() >= until,
    };
  }
}
