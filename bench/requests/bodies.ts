import { MAX_KEYS } from '../../src/base/json.ts';
import { CATALOG } from '../../src/roles/catalog.ts';

/** The largest body that the server reads. */
const MAX_BODY = 1024 * 1024;

/**
 * JSON of the largest size with as many keys as are accepted, one of them escaped so that each is looked at, and small
 * lists in the rest of it: nothing else takes as long to read.
 */
export function mostKeys(more: object = {}): string {
  const fields = Array.from({ length: MAX_KEYS - 20 }, (_, number) => `"\\u0061${number.toString(36)}":1`).join();
  const head = `${JSON.stringify(more).slice(0, -1)}${Object.keys(more).length > 0 ? ',' : ''}"x":{${fields}},"y":[`;
  return `${head}${'[1],'.repeat((MAX_BODY - head.length - 10) / 4)}1]}`;
}

/** Every permission that there is. */
export const PERMISSIONS = CATALOG.map(({ namespace, action }) => ({ namespace, action }));

/** One list of many numbers and a text of many lines, deeply nested: just below 1 MiB of YAML. */
export function largestOrder(): object {
  const chart = { name: 'redis', sourceRef: { name: 'charts' }, version: '1', namespace: 'data' };
  const charts = Array.from({ length: 100 }, (_, place) => ({
    chart: {
      ...chart,
      releaseName: `cache${place}`,
      values: {
        list: Array(400).fill(0),
        fields: Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`k${at}`, at])),
      },
      valuesPatch: [{ op: 'copy', from: '/fields', path: '/more' }],
    },
  }));
  return { spec: { items: charts } };
}

const HEAD = 'apiVersion: atrium/v1\nkind: Roles\norganization: acme\nroles:\n';

/** A file of roles that changes all of them, each with these teams. It has at most 1 MiB. */
export function roleFile(roles: number, teams: number, description: string): string {
  const namespaces = Map.groupBy(teams > 0 ? CATALOG : CATALOG.slice(0, 2), ({ namespace }) => namespace);
  const permissions = [...namespaces]
    .map(([namespace, found]) => `      ${namespace}: [${found.map(({ action }) => action).join(', ')}]\n`)
    .join('');
  const list = Array(teams).fill('Viewers').join(', ');
  const one = (number: number) =>
    `  - name: role number ${number + 1}\n    description: ${description}\n    permissions:\n${permissions}    teams: [${list}]\n`;
  return (HEAD + Array.from({ length: roles }, (_, number) => one(number)).join('')).slice(0, MAX_BODY);
}

/** A list of roles that are none, in as many lines as fit. */
export const NO_ROLES = `${HEAD}${'  - a\n'.repeat(150_000)}`.slice(0, MAX_BODY);
