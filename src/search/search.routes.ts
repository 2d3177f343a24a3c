import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { callerOf, signedIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { documentedSchema, Int64, named } from '../http/wire/schemas.ts';
import type { Organization } from '../identity/callers.ts';
import {
  type Found,
  LISTED,
  type Listed,
  MAX_FOUND,
  MAX_TEXT,
  SEARCH_TYPES,
  type Search,
  type SearchType,
} from './search.ts';

const Query = Type.Object({
  q: documentedSchema(Type.String({ description: 'A part of the name, whatever its letter case.' }), {
    minLength: 1,
    maxLength: MAX_TEXT,
  }),
  org: Type.Optional(
    documentedSchema(Type.String({ description: 'Look only in this organization.' }), { minLength: 1 }),
  ),
  types: Type.Optional(
    documentedSchema(
      Type.String({ description: `What to look for, separated by commas: ${SEARCH_TYPES.join(', ')}.` }),
      {
        minLength: 1,
      },
    ),
  ),
});

const FoundObject = named(
  'FoundObject',
  Type.Object({
    id: Int64,
    name: Type.String({ description: 'Name of the object, or login name of the person.' }),
    title: Type.Optional(
      Type.String({ description: 'Full name of a person or an organization, or display name of a cluster, if set.' }),
    ),
    organization: Type.Optional(Type.String({ description: 'Name of the organization that it belongs to.' })),
  }),
);
const FoundInstaller = named(
  'FoundInstaller',
  Type.Object({
    id: Type.String(),
    marketplace: Type.String(),
    organization: Type.Optional(Type.String({ description: 'Name of the organization that it is bound to.' })),
  }),
);
const DESCRIPTIONS: Readonly<Partial<Record<Listed, string>>> = {
  people: 'Members of organizations in which the caller may view members. All, for site administrators.',
  organizations: 'Organizations that the caller is in. All, for site administrators.',
};
const LISTS = byType((type) => {
  const description = DESCRIPTIONS[type] ?? `${type.charAt(0).toUpperCase()}${type.slice(1)} that the caller may view.`;
  return Type.Array(FoundObject, { description, maxItems: MAX_FOUND });
});
const Result = named(
  'SearchResult',
  Type.Object({
    ...LISTS,
    installers: Type.Array(FoundInstaller, { description: 'For site administrators only.', maxItems: MAX_FOUND }),
  }),
);

type FindOrganization = (name: string) => Promise<Organization | undefined>;

export function searchRoutes(scope: Scope, search: Search, organizationNamed: FindOrganization): void {
  scope.get(
    '/search',
    {
      config: { access: signedIn('organization', 'as users', { limited: 'filtered' }), isSearch: true },
      schema: {
        summary: `Find by name what the caller may see, at most ${MAX_FOUND} of each kind`,
        tags: ['search'],
        extension: true,
        querystring: Query,
        response: { 200: Result },
        errors: [403],
      },
    },
    async (request) => {
      const { q, org, types } = request.query;
      const { person, scopes, limits } = callerOf(request);
      const organization = org === undefined ? undefined : await organizationNamed(org);
      const isIn = organization && (person.isAdmin || person.organizations.has(organization.id));
      if (org !== undefined && !isIn) throw new AppError('forbidden', 'Must be an organization member');
      const found = await search({ person, scopes, limits }, { text: q, organization, types: readTypes(types) });
      return {
        ...byType((type) => found[type].map(present)),
        installers: found.installers.map(({ id, marketplace, organization: name }) => ({
          id,
          marketplace,
          ...(name !== null && { organization: name }),
        })),
      };
    },
  );
}

function byType<Value>(make: (type: Listed) => Value): Record<Listed, Value> {
  return Object.fromEntries(LISTED.map((type) => [type, make(type)])) as Record<Listed, Value>;
}

function present({ id, name, title, organization }: Found) {
  return { id, name, ...(title !== '' && title !== name && { title }), ...(organization !== null && { organization }) };
}

function readTypes(text: string | undefined): ReadonlySet<SearchType> {
  if (text === undefined) return new Set(SEARCH_TYPES);
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(SEARCH_TYPES as readonly string[]).includes(name));
  if (unknown !== undefined) {
    const given = JSON.stringify(unknown.slice(0, 40));
    throw new AppError('invalid', `types must be some of ${SEARCH_TYPES.join(', ')}; got ${given}`);
  }
  return new Set(names as SearchType[]);
}
