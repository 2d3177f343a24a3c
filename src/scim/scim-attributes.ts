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

export interface Schema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

export interface ResourceSchema extends Schema {
  readonly name: 'User' | 'Group';
  readonly endpoint: '/Users' | '/Groups';
  /** On the wire, its attributes are the parts of one whose name is the ID of the extension. */
  readonly extension?: Schema;
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

const ENTERPRISE_SCHEMA: Schema = {
  id: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  name: 'EnterpriseUser',
  description: 'What the company says about the work of a person.',
  attributes: [
    attribute('employeeNumber', 'The number of the person in the company.'),
    attribute('costCenter', 'The cost center.'),
    attribute('department', 'The department.'),
    attribute(
      'manager',
      'The manager, who can approve access requests if the request rules of the organization say so.',
      complex([
        attribute('value', 'The ID of the manager here. An externalId or a userName is also accepted.', {
          caseExact: true,
        }),
        attribute('$ref', 'The URI of the manager, if the organization has this user.', {
          ...READ_ONLY,
          type: 'reference',
          referenceTypes: ['User'],
        }),
        attribute('displayName', 'The name of the manager, as the identity provider gives it.'),
      ]),
    ),
  ],
};

export const USER_SCHEMA: ResourceSchema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:User',
  name: 'User',
  description: 'A person of the organization.',
  endpoint: '/Users',
  extension: ENTERPRISE_SCHEMA,
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
    attribute('title', 'The job title.'),
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

const ENTERPRISE = ENTERPRISE_SCHEMA.id.toLowerCase();
const KEPT_ENTERPRISE = new Set(ENTERPRISE_SCHEMA.attributes.map(({ name }) => name.toLowerCase()));
const SCHEMA_IDS = [USER_SCHEMA.id, GROUP_SCHEMA.id].map((id) => id.toLowerCase());

/**
 * Attributes of RFC 7643 that providers send as a matter of course and that nothing here needs. They are accepted and
 * not kept, because a provider treats an error about one of them as an error about the whole person.
 */
const UNKEPT = new Set(
  `nickname profileurl usertype preferredlanguage locale timezone password phonenumbers ims photos addresses
   entitlements roles x509certificates name.middlename name.honorificprefix name.honorificsuffix emails.display`.split(
    /\s+/,
  ),
);

/** An attribute by its path, in lower case: without the URN of a core schema, and with that of an extension. */
export interface AttributePath {
  readonly name: string;
  readonly sub: string | undefined;
}

/** Undefined if it is of another schema. `unkept` if it is of one whose attributes are not kept. */
export function attributePath(text: string): AttributePath | 'unkept' | undefined {
  const lower = text.toLowerCase();
  if (lower === ENTERPRISE) return { name: ENTERPRISE, sub: undefined };
  if (lower.startsWith(`${ENTERPRISE}:`)) {
    const [name = '', sub, ...rest] = lower.slice(ENTERPRISE.length + 1).split('.');
    return KEPT_ENTERPRISE.has(name) && rest.length === 0 ? { name: `${ENTERPRISE}:${name}`, sub } : 'unkept';
  }
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

/** Whether the path names an extension, or an attribute of one. */
export function isOfExtension({ name }: AttributePath): boolean {
  return name.startsWith(ENTERPRISE);
}

/** Whether the path names an extension as a whole. */
export function isExtension({ name, sub }: AttributePath): boolean {
  return name === ENTERPRISE && sub === undefined;
}

/** The attribute that a path names, if the schema has it. */
export function attributeIn(
  { attributes, extension }: ResourceSchema,
  { name, sub }: AttributePath,
): { readonly attribute: Attribute; readonly sub: Attribute | undefined } | undefined {
  const isNamed = (prefix: string) => (one: Attribute) => `${prefix}${one.name.toLowerCase()}` === name;
  const found =
    [...attributes, ...COMMON_ATTRIBUTES].find(isNamed('')) ?? extension?.attributes.find(isNamed(`${ENTERPRISE}:`));
  const part = sub === undefined ? undefined : found?.subAttributes?.find((one) => one.name.toLowerCase() === sub);
  return !found || (sub !== undefined && !part) ? undefined : { attribute: found, sub: part };
}
