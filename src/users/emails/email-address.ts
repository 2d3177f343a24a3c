/** The rules for email addresses: plain ASCII, no display name, no quoting. */
const LOCAL = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+(\.[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+)*$/;
const LABEL = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const PLAIN = /^[\x20-\x7e]*$/;
const MAX_LENGTH = 254;

/**
 * Whether two addresses differ at most in case. Letters beyond ASCII can turn into ASCII letters when their case
 * changes.
 */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (PLAIN.test(one) && PLAIN.test(other) && one.toLowerCase() === other.toLowerCase());
}

export function isAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1 || text.length > MAX_LENGTH || text.startsWith('-')) return false;
  const local = text.slice(0, at);
  return (
    local.length <= 64 &&
    LOCAL.test(local) &&
    text
      .slice(at + 1)
      .split('.')
      .every((label) => LABEL.test(label))
  );
}
