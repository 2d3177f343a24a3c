/** The attributes of users and groups that this server keeps, as RFC 7643 describes attributes (section 7). */
export interface Attribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'complex' | 'reference' | 'dateTime';
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: 'readOnly' | 'readWrite' | 'immutable';
  readonly returned: 'always' | 'default' | 'request';
  readonly uniqueness: 'none' | 'server';
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
}

export interface ResourceSchema {
  readonly id: string;
  readonly name: 'User' | 'Group';
  readonly description: string;
  readonly endpoint: '/Users' | '/Groups';
  readonly attributes: readonly Attribute[];
}

function attribute(name: string, description: string, further: Partial<Attribute> = {}): Attribute {
  return {
    name,
    type: 'string',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...further,
  };
}

const complex = (subAttributes: readonly Attribute[]) => ({ type: 'complex', subAttributes }) as const;
const READ_ONLY = { mutability: 'readOnly' } as const;
const IMMUTABLE = { mutability: 'immutable' } as const;

export const USER_SCHEMA: ResourceSchema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:User',
  name: 'User',
  description: 'A person of the organization.',
  endpoint: '/Users',
  attributes: [
    attribute('userName', 'The name of the person at the identity provider. It is no login name here.', {
      required: true,
      uniqueness: 'server',
    }),
    attribute(
      'name',
      'The parts of the name.',
      complex([
        attribute('formatted', 'The whole name.'),
        attribute('familyName', 'The family name.'),
        attribute('givenName', 'The given name.'),
      ]),
    ),
    attribute('displayName', 'The name that others see.'),
    attribute('emails', 'One address: the primary one, or else the first. Further ones are not kept.', {
      multiValued: true,
      required: true,
      ...complex([
        attribute('value', 'The address.', { required: true }),
        attribute('type', 'What the address is for.', { canonicalValues: ['work', 'home', 'other'] }),
        attribute('primary', 'Always true.', { type: 'boolean' }),
      ]),
    }),
    attribute('active', 'If false, the person cannot use what the organization gave them.', {
      type: 'boolean',
      required: true,
    }),
    attribute('groups', 'The teams of the organization that the person is in.', {
      multiValued: true,
      returned: 'request',
      ...READ_ONLY,
      ...complex([
        attribute('value', 'The ID of the group.', { ...READ_ONLY, caseExact: true }),
        attribute('$ref', 'The URI of the group.', { ...READ_ONLY, type: 'reference', referenceTypes: ['Group'] }),
        attribute('display', 'The name of the team.', READ_ONLY),
        attribute('type', 'Always direct.', { ...READ_ONLY, canonicalValues: ['direct'] }),
      ]),
    }),
  ],
};

export const GROUP_SCHEMA: ResourceSchema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  name: 'Group',
  description: 'A team of the organization.',
  endpoint: '/Groups',
  attributes: [
    attribute('displayName', 'The name of the team.', { required: true, uniqueness: 'server' }),
    attribute('members', 'The people in the team.', {
      multiValued: true,
      ...complex([
        attribute('value', 'The ID of the user.', { ...IMMUTABLE, caseExact: true }),
        attribute('$ref', 'The URI of the user.', { ...IMMUTABLE, type: 'reference', referenceTypes: ['User'] }),
        attribute('type', 'Always User.', { ...IMMUTABLE, canonicalValues: ['User'] }),
        attribute('display', 'The user name of the person.', { ...READ_ONLY, returned: 'request' }),
      ]),
    }),
  ],
};

/** Every resource has them, so that no schema lists them. */
export const COMMON_ATTRIBUTES: readonly Attribute[] = [
  attribute('schemas', 'The schemas of the resource.', { ...READ_ONLY, multiValued: true, returned: 'always' }),
  attribute('id', 'The ID.', { ...READ_ONLY, caseExact: true, returned: 'always' }),
  attribute('externalId', 'The ID at the identity provider.', { caseExact: true }),
  attribute('meta', 'When it was created and changed, and its version.', {
    ...READ_ONLY,
    ...complex([
      attribute('resourceType', 'User or Group.', READ_ONLY),
      attribute('created', 'When it was created.', { ...READ_ONLY, type: 'dateTime' }),
      attribute('lastModified', 'When it was changed last.', { ...READ_ONLY, type: 'dateTime' }),
      attribute('location', 'Its URI.', { ...READ_ONLY, type: 'reference' }),
      attribute('version', 'Its ETag.', READ_ONLY),
    ]),
  }),
];

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:user';
const SCHEMA_IDS = [USER_SCHEMA.id, GROUP_SCHEMA.id].map((id) => id.toLowerCase());

/**
 * Attributes of RFC 7643 that providers send as a matter of course and that nothing here needs. They are accepted and
 * not kept, because a provider treats an error about one of them as an error about the whole person.
 */
const UNKEPT = new Set(
  `nickname profileurl title usertype preferredlanguage locale timezone password phonenumbers ims photos addresses
   entitlements roles x509certificates name.middlename name.honorificprefix name.honorificsuffix emails.display`.split(
    /\s+/,
  ),
);

/** An attribute by its path, in lower case, without the URN of its schema. */
export interface AttributePath {
  readonly name: string;
  readonly sub: string | undefined;
}

/** Undefined if it is of another schema. `unkept` if it is of one whose attributes are not kept. */
export function attributePath(text: string): AttributePath | 'unkept' | undefined {
  const lower = text.toLowerCase();
  if (lower === ENTERPRISE || lower.startsWith(`${ENTERPRISE}:`)) return 'unkept';
  const schema = SCHEMA_IDS.find((id) => lower.startsWith(`${id}:`));
  // An extension of the customer's own. POST ignores it, and PATCH must not keep a leaver active because of it.
  if (schema === undefined && lower.startsWith('urn:')) return 'unkept';
  const bare = schema === undefined ? lower : lower.slice(schema.length + 1);
  const [name = '', sub, ...rest] = bare.split('.');
  if (rest.length > 0 || !/^[a-z$][\w$-]*$/.test(name) || (sub !== undefined && !/^[a-z$][\w$-]*$/.test(sub))) {
    return undefined;
  }
  return UNKEPT.has(bare) || UNKEPT.has(name) ? 'unkept' : { name, sub };
}

/** The attribute that a path names, if the schema has it. */
export function attributeIn(
  { attributes }: ResourceSchema,
  { name, sub }: AttributePath,
): { readonly attribute: Attribute; readonly sub: Attribute | undefined } | undefined {
  const found = [...attributes, ...COMMON_ATTRIBUTES].find((one) => one.name.toLowerCase() === name);
  const part = sub === undefined ? undefined : found?.subAttributes?.find((one) => one.name.toLowerCase() === sub);
  return !found || (sub !== undefined && !part) ? undefined : { attribute: found, sub: part };
}
