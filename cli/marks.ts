/** A user in an answer about who may do what. Whoever is deactivated cannot use what they hold. */
export function marked({ name, active }: { readonly name: string; readonly active?: boolean }): string {
  return active === false ? `${name} (deactivated)` : name;
}
