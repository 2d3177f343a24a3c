import { AppError } from '../base/errors.ts';

/** How deep the values of a chart may be nested once they are patched. */
export const MAX_DEPTH = 64;
/** How many values an order may contain as it is sent: items of lists and fields of objects, at any depth. */
const MAX_VALUES = 50_000;
/** How many of them may be fields of objects, which take much longer than items of lists. */
const MAX_FIELDS = 20_000;
/** How many characters of YAML all manifests of an order may have together. */
export const MAX_TEXT = 1024 * 1024;
/** How many values all patches of an order may compare, copy and move together. */
const MAX_WORK = 500_000;

/** The patches of an order need more work than an order may cause. */
export class WorkExceeded extends Error {}

/**
 * What one order may still cost. It is shared by all charts of the order: a hundred charts must not cost a hundred
 * times as much as one.
 */
export interface OrderBudget {
  /** Counts values that are compared, copied or moved; throws WorkExceeded. */
  work(values: number): void;
  /** Counts characters of rendered text. */
  text(characters: number): void;
}

export function createOrderBudget(): OrderBudget {
  let work = MAX_WORK;
  let text = MAX_TEXT;
  return {
    work(values) {
      work -= values;
      if (work < 0) throw new WorkExceeded();
    },
    text(characters) {
      text -= characters;
      if (text < 0) throw tooLarge('the manifests of the order would be larger than 1 MiB');
    },
  };
}

/** Throws if the order, as it was sent, contains too many values. It must not be nested too deeply. */
export function limitValues(order: object): void {
  let values = 0;
  let fields = 0;
  visit(order);

  function visit(value: object): void {
    const items = Array.isArray(value) ? value : Object.values(value);
    values += items.length;
    if (items !== value) fields += items.length;
    if (values > MAX_VALUES) throw tooLarge('the order has more than 50,000 values');
    if (fields > MAX_FIELDS) throw tooLarge('the order has more than 20,000 fields');
    for (const item of items) if (typeof item === 'object' && item !== null) visit(item);
  }
}

export function tooLarge(message: string): AppError {
  return new AppError('malformed', message, { reason: 'order_too_large', errors: [{ field: 'spec.items', message }] });
}
