import { createAddressSet } from './address-set.ts';

/** One version of the published address ranges, limited to those of the compute cloud. */
export interface RangeFile {
  readonly syncToken: bigint;
  readonly prefixes: readonly string[];
}

const SERVICE = 'EC2';

/** Reads the published format. If the file cannot be trusted, throws an Error whose message is readable in the log. */
export function readRangeFile(text: string): RangeFile {
  const file = JSON.parse(text) as Record<string, unknown>;
  const syncToken = String(file.syncToken ?? '');
  if (!/^\d{1,18}$/.test(syncToken)) throw new Error('the file has no syncToken');
  const prefixes = [...pick(file.prefixes, 'ip_prefix'), ...pick(file.ipv6_prefixes, 'ipv6_prefix')];
  if (prefixes.length === 0) throw new Error(`the file has no prefix for the service ${SERVICE}`);
  createAddressSet(prefixes);
  return { syncToken: BigInt(syncToken), prefixes: [...new Set(prefixes)].sort() };
}

function pick(list: unknown, field: string): string[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw new Error('the file has no list of prefixes');
  return list.flatMap((entry: Record<string, unknown>) => {
    if (entry?.service !== SERVICE) return [];
    const prefix = entry[field];
    if (typeof prefix !== 'string') throw new Error(`an entry has no ${field}`);
    return [prefix];
  });
}
