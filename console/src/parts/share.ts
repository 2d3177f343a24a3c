/** Neither 0 % nor 100 % unless it is exactly that. */
export function percentOf(part: number, all: number): string {
  if (all === 0) return '';
  const percent = Math.round((100 * part) / all);
  if (part > 0 && part < all) return `${Math.min(99, Math.max(1, percent))} %`;
  return `${percent} %`;
}
