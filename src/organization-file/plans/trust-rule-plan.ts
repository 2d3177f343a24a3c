import { AppError, invalidField } from '../../base/errors.ts';
import type { OwnedType } from '../../changes/object-kinds.ts';
import { changesTrust, type TrustRuleDraft } from '../../federation/trust-rule.ts';
import { lifetimeText } from '../../federation/trust-rule-input.ts';
import type { WantedTrustRule } from '../../federation/trust-rules.ts';
import type { StoredTrustRule } from '../organization-now.ts';
import type { LimitEntry, LimitsEntry, TrustRuleEntry } from '../trust-rule-entry.ts';
import { type Faults, matchNames, quote } from './file-change.ts';

/** Asks the rules for trust rules. */
export interface TrustRuleReader {
  /** Rejects what no caller could store. */
  read(wanted: WantedTrustRule): Promise<TrustRuleDraft>;
  objectNamed(object: LimitEntry): Promise<{ readonly type: string; readonly id: bigint } | undefined>;
}

export interface TrustRuleAfter {
  /** Undefined: the file creates it. */
  readonly current: StoredTrustRule | undefined;
  readonly draft: TrustRuleDraft;
}

/** What a file does about the trust rules of one robot. */
export interface TrustRulePlan {
  readonly puts: readonly TrustRuleAfter[];
  readonly deletes: readonly StoredTrustRule[];
  /** How many there are after the file. */
  readonly count: number;
  readonly words: readonly string[];
  readonly unmanaged: readonly string[];
}

interface Options {
  /** Where the robot is in the file. */
  readonly at: string;
  readonly prunes: boolean;
  readonly faults: Faults;
  readonly reader: TrustRuleReader;
}

/** Without the list, all of them stay. */
export async function planTrustRules(
  stored: readonly StoredTrustRule[],
  entries: readonly TrustRuleEntry[] | undefined,
  { at, prunes, faults, reader }: Options,
): Promise<TrustRulePlan> {
  const section = `${at}.trust_rules`;
  const { pairs, others } = matchNames(section, entries ?? [], stored, faults, (name) => name);
  const puts: TrustRuleAfter[] = [];
  for (const { entry, place, current } of pairs) {
    if (current && entriesEqual(entry, current)) continue;
    const draft = await draftOf(entry, current, `${section}[${place}]`);
    if (draft && !(current && isSame(current, draft))) puts.push({ current, draft });
  }
  const deletes = prunes && entries ? others : [];
  const kept = deletes.length > 0 ? [] : others;
  return {
    ...{ puts, deletes, count: kept.length + pairs.length },
    words: [...puts.map(wordsOf), ...deletes.map(({ name }) => `- trust rule ${quote(name)}`)],
    unmanaged: kept.map(({ name }) => name),
  };

  async function draftOf(entry: TrustRuleEntry, current: StoredTrustRule | undefined, field: string) {
    try {
      return await reader.read(await wantedFrom(entry, current, reader));
    } catch (error) {
      if (!(error instanceof AppError) || !['invalid', 'malformed'].includes(error.kind)) throw error;
      const { message, detail } = error;
      for (const one of detail.errors ?? [{ field: 'scopes', message }]) {
        faults.add(`${field}.${one.field}`, one.message);
      }
      return undefined;
    }
  }
}

/** The entry over what is there. */
async function wantedFrom(
  entry: TrustRuleEntry,
  current: StoredTrustRule | undefined,
  reader: TrustRuleReader,
): Promise<WantedTrustRule> {
  return {
    name: entry.name,
    issuer: entry.issuer ?? current?.issuer ?? '',
    audience: entry.audience ?? current?.audience,
    jwks: entry.jwks ?? current?.jwks,
    claims: entry.claims ?? current?.claims ?? {},
    scopes: entry.scopes ?? current?.scopes,
    limits: entry.limits ? await limitsFrom(entry.limits, reader) : wantedOf(current),
    lifetime: entry.lifetime ?? (current && lifetimeText(current.lifetimeSeconds)),
    singleUse: entry.singleUse ?? current?.singleUse,
  };
}

function wantedOf(current: StoredTrustRule | undefined): WantedTrustRule['limits'] {
  const { limits } = current ?? {};
  return limits && { organizations: limits.organizations.map(({ name }) => name), objects: limits.objects };
}

async function limitsFrom({ organizations, objects }: LimitsEntry, reader: TrustRuleReader) {
  const found: { readonly type: OwnedType; readonly id: bigint }[] = [];
  for (const object of objects) {
    const one = await reader.objectNamed(object);
    const words = `${object.type} ${quote(object.name ?? String(object.id))}`;
    if (!one) throw invalidField('limits.objects', `${words} does not exist in this organization`);
    found.push({ type: one.type as OwnedType, id: one.id });
  }
  return { organizations, objects: found };
}

/** A trust rule in a file: everything by name, in a fixed order. */
export function trustRuleEntryOf(rule: TrustRuleDraft) {
  const { name, issuer, audience, jwks, claims, scopes, limits, lifetimeSeconds, singleUse } = rule;
  return {
    ...{ name, issuer, audience },
    ...(jwks && { jwks }),
    ...{ claims: Object.fromEntries(Object.entries(claims).sort(([one], [other]) => (one < other ? -1 : 1))), scopes },
    ...(limits && { limits: limitsEntryOf(limits) }),
    lifetime: lifetimeText(lifetimeSeconds),
    ...(!singleUse && { single_use: false }),
  };
}

function limitsEntryOf({ organizations, objects }: NonNullable<TrustRuleDraft['limits']>) {
  const named = objects.map(({ type, name }) => ({ type: type === 'robot_ac' ? 'robot' : type, name }));
  return {
    ...(organizations.length > 0 && { organizations: organizations.map(({ name }) => name) }),
    ...(named.length > 0 && { objects: named }),
  };
}

/** Whether the entry says what an export would say. Then it is not read again: what it names may be gone. */
function entriesEqual(entry: TrustRuleEntry, current: StoredTrustRule): boolean {
  const { name, was: _, jwks, claims, limits, singleUse = current.singleUse, ...texts } = entry;
  const said = trustRuleEntryOf(current) as Readonly<Record<string, unknown>>;
  const equal = (one: unknown, other: unknown) => one === undefined || canonical(one) === canonical(other);
  return (
    name === current.name &&
    singleUse === current.singleUse &&
    Object.entries(texts).every(([key, value]) => equal(value, said[key])) &&
    equal(jwks, current.jwks) &&
    equal(claims, current.claims) &&
    (limits === undefined || (current.limits !== undefined && equal(namedLimits(limits), said.limits)))
  );
}

function namedLimits({ organizations, objects }: LimitsEntry) {
  const named = objects.map(({ type, id, name }) => ({
    ...(id !== undefined && { id: String(id) }),
    ...{ type: type === 'robot_ac' ? 'robot' : type, name },
  }));
  return { ...(organizations.length > 0 && { organizations }), ...(named.length > 0 && { objects: named }) };
}

function isSame(current: StoredTrustRule, draft: TrustRuleDraft): boolean {
  return current.name === draft.name && !changesTrust(current, draft);
}

/** Which parts differ; the file says how. */
function wordsOf({ current, draft }: TrustRuleAfter): string {
  if (!current) return `+ trust rule ${quote(draft.name)} of ${draft.issuer}`;
  const partsOf = (rule: TrustRuleDraft) =>
    new Map<string, unknown>(Object.entries({ ...trustRuleEntryOf(rule), single_use: rule.singleUse }));
  const [before, after] = [partsOf(current), partsOf(draft)];
  const keys = [...new Set([...after.keys(), ...before.keys()])];
  const differing = keys.filter((key) => canonical(before.get(key)) !== canonical(after.get(key)));
  return `~ trust rule ${quote(draft.name)}: ${differing.join(', ')}`;
}

/** The same text for the same content, whatever the order of keys. */
function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
