/**
 * Reads the part of CBOR (RFC 8949) that authenticators write: definite lengths, no tags, integers within 53 bits. Maps
 * become a Map, because COSE keys are numbers.
 */
export type CborValue = number | string | Buffer | boolean | null | readonly CborValue[] | CborMap;
export type CborMap = ReadonlyMap<number | string, CborValue>;

const MAX_DEPTH = 8;

/** Throws if the bytes are not one item and nothing else. */
export function readCbor(bytes: Buffer): CborValue {
  const { value, end } = readCborPrefix(bytes);
  if (end !== bytes.length) throw new Error('something follows the CBOR item');
  return value;
}

/** The first item, and where it ends. */
export function readCborPrefix(bytes: Buffer, start = 0): { readonly value: CborValue; readonly end: number } {
  let at = start;
  const value = item(0);
  return { value, end: at };

  function item(depth: number): CborValue {
    if (depth > MAX_DEPTH) throw new Error('CBOR is nested too deeply');
    const head = take(1).readUInt8();
    const kind = head >> 5;
    if (kind === 7) return simple(head & 31);
    const count = argument(head & 31);
    switch (kind) {
      case 0:
        return count;
      case 1:
        return -1 - count;
      case 2:
        return Buffer.from(take(count));
      case 3:
        return new TextDecoder('utf-8', { fatal: true }).decode(take(count));
      case 4:
        return list(count, depth);
      case 5:
        return map(count, depth);
      default:
        throw new Error('CBOR tags are not supported');
    }
  }

  function list(count: number, depth: number): CborValue[] {
    const values: CborValue[] = [];
    while (values.length < count) values.push(item(depth + 1));
    return values;
  }

  function map(count: number, depth: number): CborMap {
    const entries = new Map<number | string, CborValue>();
    for (let left = count; left > 0; left--) {
      const key = item(depth + 1);
      if (typeof key !== 'number' && typeof key !== 'string') throw new Error('a CBOR key must be a number or a text');
      if (entries.has(key)) throw new Error('a CBOR key occurs twice');
      entries.set(key, item(depth + 1));
    }
    return entries;
  }

  function simple(detail: number): CborValue {
    if (detail === 20 || detail === 21) return detail === 21;
    if (detail === 22) return null;
    throw new Error('CBOR floats and undefined are not supported');
  }

  function argument(detail: number): number {
    if (detail < 24) return detail;
    if (detail === 24) return take(1).readUInt8();
    if (detail === 25) return take(2).readUInt16BE();
    if (detail === 26) return take(4).readUInt32BE();
    const wide = detail === 27 ? take(8).readBigUInt64BE() : undefined;
    if (wide === undefined || wide > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('CBOR length is not supported');
    return Number(wide);
  }

  function take(count: number): Buffer {
    if (at + count > bytes.length) throw new Error('CBOR ends too early');
    at += count;
    return bytes.subarray(at - count, at);
  }
}
