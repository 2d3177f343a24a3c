/**
 * What people read for a permission of the catalog. Its action is what programs send, and stays as it is; where it says
 * something else than sentences and buttons do, the name here is the one that every text uses.
 */
const NAMES: ReadonlyMap<string, string> = new Map([['reconfigure clusters', 'edit clusters']]);
const ACTIONS: ReadonlyMap<string, string> = new Map([...NAMES].map(([action, name]) => [name, action]));

export function permissionName(action: string): string {
  return NAMES.get(action) ?? action;
}

/** The action of a permission that is called by its name: what people read can be typed. */
export function actionNamed(text: string): string {
  return ACTIONS.get(text) ?? text;
}
