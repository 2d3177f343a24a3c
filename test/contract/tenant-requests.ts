type Names = Readonly<Record<string, string>>;

interface Wanted {
  readonly path: string;
  readonly slots: readonly { readonly slot: string; readonly meaning: string }[];
  /** What is named in which slot, by its meaning. */
  readonly named: ReadonlyMap<string, string>;
  /** Slots that are filled although they need not be. */
  readonly filled: ReadonlySet<string>;
  /** What is named there. */
  readonly names: Names;
  /** What the caller may name everywhere else. */
  readonly own: Names;
  readonly unique: string;
}

export interface Built {
  readonly path: string;
  readonly body: unknown;
  /** What only this request contains. */
  readonly own: readonly string[];
}

/** A request with some names of what the caller may not see (or of nothing), and otherwise with what is the caller's. */
export function buildRequest({ path, slots, named, filled, names, own, unique }: Wanted): Built {
  const query = new URLSearchParams();
  let target = path;
  // An order is only looked at if its chart is complete.
  const chart = { name: 'x', sourceRef: { name: 'x' }, version: '1.0.0', releaseName: 'x', namespace: 'x' };
  let body: unknown = path.endsWith('/orders') ? { spec: { items: [{ chart }] } } : {};
  const used: string[] = [];
  for (const { slot, meaning } of slots) {
    // The organization would have another name from then on.
    if (path === '/orgs/:org' && meaning === 'newName') continue;
    const kind = named.get(slot);
    const isRequired =
      !/^[?.[]/.test(slot) ||
      ['?org', '?relation', '?key', '?cluster', '.name', '.uid', '.username', '.changes[].action'].includes(slot);
    if (kind === undefined && !isRequired && !filled.has(slot) && !slot.startsWith('[]')) continue;
    const value = kind === undefined ? ownValue(slot, meaning) : (names[kind] ?? '');
    if (kind !== undefined) used.push(value);
    if (slot.startsWith('?')) query.append(slot.slice(1), value);
    else if (slot === '') body = documentWith(value);
    else if (/^[.[]/.test(slot)) body = put(body, slot, kind === undefined ? value : typed(slot, value));
    else target = target.replace(`:${slot}`, encodeURIComponent(value));
  }
  return { path: `${target}${query.size > 0 ? `?${query}` : ''}`, body, own: used };

  function ownValue(slot: string, meaning: string): string {
    if (slot === '.name' || slot === '.username') return fresh(`new${unique}`);
    if (slot === '.uid')
      return fresh(`99999999-9999-4999-8999-${Buffer.from(unique.slice(-6).padStart(6, '0')).toString('hex')}`);
    if (meaning === 'relation') return 'can_view';
    if (meaning === 'objectType') return 'cluster';
    if (slot === '.changes[].action') return 'team.delete';
    if (slot === 'cloud') return 'aws';
    return own[meaning] ?? 'x';
  }

  /** A name that no other request contains. */
  function fresh(value: string): string {
    used.push(value);
    return value;
  }
}

/** IDs are numbers in bodies. */
function typed(slot: string, value: string): unknown {
  return /ID(s\[\])?$|\.id$/.test(slot) && /^\d+$/.test(value) ? Number(value) : value;
}

function put(body: unknown, slot: string, value: unknown): unknown {
  const [step = '', ...rest] = slot.match(/\.[^.[]+|\[\]/g) ?? [];
  const inner = (at: unknown) => (rest.length === 0 ? value : put(at, rest.join(''), value));
  if (step === '[]') return [inner(Array.isArray(body) ? body[0] : undefined)];
  const key = step.slice(1);
  const known = (body ?? {}) as Readonly<Record<string, unknown>>;
  return { ...known, [key]: inner(known[key]) };
}

/** A file of roles in which the name is the organization, a role or a team. */
function documentWith(name: string): unknown {
  const role = { name, description: '', permissions: [], teams: [name] };
  return { apiVersion: 'atrium/v1', kind: 'Roles', organization: name, roles: [role] };
}
