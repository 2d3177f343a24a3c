import { isObject, type Json } from './canonical-json.ts';

/** Names of fields that may be secret. */
export const SECRETIVE = /pass|secret|token|credential|private|access.?key|auth/i;
/** Fields that help an operator to find the sender. A valid value has only the characters of `PLAIN`. */
const TELLING = /^(eventtype|eventtime|applicationid|provisioningstate|marketplace|clusterid)$/i;
const PLAIN = /^[\w .:/()+-]{0,1024}$/;
const HIDDEN = '(text)';

/**
 * What is kept of a body that could not be acted on: its fields, but neither those that may be secret nor the text of
 * the others, except plain values of `TELLING`. If a field is not what it should be, a password may be anywhere, for
 * example in JSON inside a text.
 */
export function redact(value: Json, name = ''): Json {
  if (typeof value === 'string') return TELLING.test(name) && PLAIN.test(value) ? value : HIDDEN;
  if (Array.isArray(value)) return value.map((item: Json) => redact(item));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !SECRETIVE.test(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, redact(item, key)]));
}
