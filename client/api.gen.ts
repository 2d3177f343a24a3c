// Made by `npm run generate` from openapi/atrium.json.
import type { RawBody } from './raw-body.ts';

export type Id = string | number | bigint;
export type Text = string | number | bigint | boolean;

export type ErrorBody = {
  /** What was wrong, for a person. */
  readonly message: string;
  /** Address of the API documentation. */
  readonly url: string;
  /** Why, for programs. A new version may add reasons, but does not rename any. */
  readonly reason: 'invalid_request' | 'validation_failed' | 'unauthenticated' | 'forbidden' | 'missing_relation' | 'escalation' | 'not_found' | 'route_not_found' | 'user_not_found' | 'organization_not_found' | 'team_not_found' | 'role_not_found' | 'cluster_not_found' | 'contract_not_found' | 'robot_not_found' | 'token_not_found' | 'credential_not_found' | 'order_not_found' | 'delivery_not_found' | 'unknown_relation' | 'method_not_allowed' | 'conflict' | 'name_taken' | 'email_taken' | 'last_owner' | 'last_administrator' | 'database_in_use' | 'gone' | 'precondition_failed' | 'body_too_large' | 'rate_limited' | 'internal_error' | 'upstream_failed' | 'unavailable';
  /** The missing relation, if reason is missing_relation. */
  readonly relation?: string;
  readonly errors?: readonly {
    readonly field: string;
    readonly message: string;
  }[];
  readonly request_id?: string;
};

export type ListenerErrorBody = {
  readonly message: string;
};

export interface Operations {
  /** The public keys that hosted tokens are checked with */
  'GET /.well-known/jwks.json': {
    input: {
    };
    answer: {
      readonly keys: readonly {
        readonly [key: string]: unknown;
      }[];
    };
  };
  /** The audit log of the whole deployment, newest first */
  'GET /admin/audit': {
    input: {
      query?: {
        /** Who did it: a login name, or the ID of an account (also of one that is gone; 0: the server itself). */
        actor?: Text | undefined;
        /** What was done, such as role.create; with a dot at the end all that begins so: role. */
        action?: Text | undefined;
        /** What it was done to, such as cluster:7; cluster alone: all clusters. */
        object?: Text | undefined;
        /** From this time on (RFC 3339). */
        since?: Text | undefined;
        /** Before this time (RFC 3339). */
        until?: Text | undefined;
        /** Go on behind here: the next_cursor of the page before. */
        cursor?: Text | undefined;
        /** Entries a page; 30 unless said, at most 200. */
        limit?: Text | undefined;
        /** Only what concerns this organization: its name, or its ID when it is gone; 0: the deployment. */
        org?: Text | undefined;
      };
    };
    answer: {
      readonly items: readonly {
        readonly id: bigint;
        readonly at: string;
        readonly organization_id: bigint;
        readonly actor: {
          readonly id: bigint;
          readonly name: string;
        };
        readonly action: string;
        readonly object: {
          readonly type: string;
          readonly id: bigint;
        };
        /** What it was like; null where there was nothing. */
        readonly before: unknown;
        /** What it was like; null where there was nothing. */
        readonly after: unknown;
        readonly request_id: string;
        readonly previous_hash: string;
        /** SHA-256, in hexadecimal, over the 32 bytes of previous_hash followed by the UTF-8 text of a JSON array without blanks: at, organization_id, actor.id, actor.name, action, object.type, object.id, before, after, request_id, previous_hash. All are strings: numbers in decimal, before and after as they stand in this answer, letter for letter, or null. The first entry of an organization has zeros for previous_hash. */
        readonly hash: string;
      }[];
      readonly next_cursor: string | null;
    };
  };
  /** The audit log of the whole deployment as a stream of JSON lines, oldest first */
  'GET /admin/audit/export': {
    input: {
      query?: {
        /** Who did it: a login name, or the ID of an account (also of one that is gone; 0: the server itself). */
        actor?: Text | undefined;
        /** What was done, such as role.create; with a dot at the end all that begins so: role. */
        action?: Text | undefined;
        /** What it was done to, such as cluster:7; cluster alone: all clusters. */
        object?: Text | undefined;
        /** From this time on (RFC 3339). */
        since?: Text | undefined;
        /** Before this time (RFC 3339). */
        until?: Text | undefined;
        /** Only what concerns this organization: its name, or its ID when it is gone; 0: the deployment. */
        org?: Text | undefined;
      };
    };
    answer: undefined;
  };
  /** What marketplaces delivered, newest first */
  'GET /admin/marketplace/deliveries': {
    input: {
      query?: {
        /** CloudA, CloudB or CloudC. */
        marketplace?: Text | undefined;
        /** One of the states received, done, refused, dead, or a reason such as bound, superseded, already_bound, unknown_event_type. */
        outcome?: Text | undefined;
        /** A part of the subject: an application, an installer. */
        search?: Text | undefined;
        /** Go on behind here: the next_cursor of the page before. */
        cursor?: Text | undefined;
        /** Entries a page; 30 unless said, at most 200. */
        limit?: Text | undefined;
      };
    };
    answer: {
      readonly items: readonly ({
        readonly id: bigint;
        readonly marketplace: string;
        /** What it is about; empty when it could not be understood. */
        readonly subject: string;
        readonly event_type: string;
        readonly event_time: string;
        /** One of received, done, refused, dead; dead: given up after many tries. */
        readonly state: string;
        readonly reason: string;
        readonly status: number | null;
        readonly message: string | null;
        readonly source: string;
        readonly request_id: string;
        /** How often the marketplace sent it. */
        readonly times: number;
        /** How often acting on it failed. */
        readonly attempts: number;
        readonly received_at: string;
        readonly last_at: string;
        readonly done_at: string | null;
      })[];
      readonly next_cursor: string | null;
    };
  };
  /** One delivery with what it said */
  'GET /admin/marketplace/deliveries/{id}': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: {
      readonly id: bigint;
      readonly marketplace: string;
      /** What it is about; empty when it could not be understood. */
      readonly subject: string;
      readonly event_type: string;
      readonly event_time: string;
      /** One of received, done, refused, dead; dead: given up after many tries. */
      readonly state: string;
      readonly reason: string;
      readonly status: number | null;
      readonly message: string | null;
      readonly source: string;
      readonly request_id: string;
      /** How often the marketplace sent it. */
      readonly times: number;
      /** How often acting on it failed. */
      readonly attempts: number;
      readonly received_at: string;
      readonly last_at: string;
      readonly done_at: string | null;
      /** What it said, without anything secret. */
      readonly notification: unknown;
    };
  };
  /** Act on a delivery again that is not done; answers what became of it */
  'POST /admin/marketplace/deliveries/{id}/redeliver': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: {
      readonly id: bigint;
      readonly marketplace: string;
      /** What it is about; empty when it could not be understood. */
      readonly subject: string;
      readonly event_type: string;
      readonly event_time: string;
      /** One of received, done, refused, dead; dead: given up after many tries. */
      readonly state: string;
      readonly reason: string;
      readonly status: number | null;
      readonly message: string | null;
      readonly source: string;
      readonly request_id: string;
      /** How often the marketplace sent it. */
      readonly times: number;
      /** How often acting on it failed. */
      readonly attempts: number;
      readonly received_at: string;
      readonly last_at: string;
      readonly done_at: string | null;
      /** What it said, without anything secret. */
      readonly notification: unknown;
    };
  };
  /** All organizations */
  'GET /admin/orgs': {
    input: {
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly name: string;
      readonly username: string;
      readonly full_name: string;
      readonly avatar_url: string;
      readonly description: string;
      readonly website: string;
      readonly location: string;
      readonly visibility: string;
      readonly orgType: string;
    }[];
  };
  /** All users, or those whose name or address holds a text */
  'GET /admin/users': {
    input: {
      query?: {
        /** A part of a name. */
        q?: Text | undefined;
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly login: string;
      readonly username: string;
      readonly full_name: string;
      readonly email: string;
      readonly avatar_url: string;
      readonly language: string;
      readonly is_admin: boolean;
      readonly last_login: string;
      readonly created: string;
      /** 0 a person, 1 an organization */
      readonly type: number;
      readonly active: boolean;
      readonly prohibit_login: boolean;
      readonly location: string;
      readonly website: string;
      readonly description: string;
      readonly orgAdmin: boolean;
      readonly clientOrgUser?: boolean;
    }[];
  };
  /** Make a user */
  'POST /admin/users': {
    input: {
      body: {
        readonly username: string;
        readonly email: string;
        readonly full_name?: string | undefined;
        /** 8 to 255 characters. A new one ends all sessions. */
        readonly password?: string | undefined;
        /** A site administrator. */
        readonly admin?: boolean | undefined;
        /** Without this nobody can do anything as them. */
        readonly active?: boolean | undefined;
        readonly prohibit_login?: boolean | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly login: string;
      readonly username: string;
      readonly full_name: string;
      readonly email: string;
      readonly avatar_url: string;
      readonly language: string;
      readonly is_admin: boolean;
      readonly last_login: string;
      readonly created: string;
      /** 0 a person, 1 an organization */
      readonly type: number;
      readonly active: boolean;
      readonly prohibit_login: boolean;
      readonly location: string;
      readonly website: string;
      readonly description: string;
      readonly orgAdmin: boolean;
      readonly clientOrgUser?: boolean;
    };
  };
  /** Change a user; what is left out stays */
  'PATCH /admin/users/{username}': {
    input: {
      path: {
        username: Id;
      };
      body: {
        /** Becomes the primary address, in place of the present one. */
        readonly email?: string | undefined;
        readonly full_name?: string | undefined;
        /** 8 to 255 characters. A new one ends all sessions. */
        readonly password?: string | undefined;
        readonly description?: string | undefined;
        /** An http address, or empty. */
        readonly website?: string | undefined;
        readonly location?: string | undefined;
        /** A site administrator. */
        readonly admin?: boolean | undefined;
        /** Without this nobody can do anything as them. */
        readonly active?: boolean | undefined;
        readonly prohibit_login?: boolean | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly login: string;
      readonly username: string;
      readonly full_name: string;
      readonly email: string;
      readonly avatar_url: string;
      readonly language: string;
      readonly is_admin: boolean;
      readonly last_login: string;
      readonly created: string;
      /** 0 a person, 1 an organization */
      readonly type: number;
      readonly active: boolean;
      readonly prohibit_login: boolean;
      readonly location: string;
      readonly website: string;
      readonly description: string;
      readonly orgAdmin: boolean;
      readonly clientOrgUser?: boolean;
    };
  };
  /** Delete a user with all that is theirs */
  'DELETE /admin/users/{username}': {
    input: {
      path: {
        username: Id;
      };
    };
    answer: undefined;
  };
  /** Make an organization for somebody, who becomes its owner */
  'POST /admin/users/{username}/orgs': {
    input: {
      path: {
        username: Id;
      };
      body: {
        readonly username: string;
        readonly full_name?: string | undefined;
        readonly description?: string | undefined;
        /** An http address, or empty. */
        readonly website?: string | undefined;
        readonly location?: string | undefined;
        readonly visibility?: 'public' | 'limited' | 'private' | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly name: string;
      readonly username: string;
      readonly full_name: string;
      readonly avatar_url: string;
      readonly description: string;
      readonly website: string;
      readonly location: string;
      readonly visibility: string;
      readonly orgType: string;
    };
  };
  /** The permissions that the caller holds on many objects, at one moment */
  'POST /authz/objects/allowed-permissions': {
    input: {
      query: {
        /** Name of the organization. */
        org: Text;
      };
      body: readonly ({
        readonly objectType: string;
        readonly objectID: bigint | number;
      })[] | RawBody;
    };
    answer: readonly {
      readonly objectType: string;
      readonly objectID: bigint;
      readonly allowedPermissions: readonly string[];
    }[];
  };
  /** The permissions that the caller holds on one object */
  'GET /authz/objects/{objectType}/{objID}/allowed-permissions': {
    input: {
      path: {
        objectType: Id;
        objID: Id;
      };
      query: {
        /** Name of the organization. */
        org: Text;
      };
    };
    answer: {
      readonly objectType: string;
      readonly objectID: bigint;
      readonly allowedPermissions: readonly string[];
    };
  };
  /** Why somebody holds a relation on an object, or what is missing */
  'GET /authz/objects/{objectType}/{objID}/explain': {
    input: {
      path: {
        objectType: Id;
        objID: Id;
      };
      query: {
        /** Name of the organization. */
        org: Text;
        /** One of the permissions that the object can have, such as can_view. */
        relation: Text;
        /** Whom to ask about; the caller unless said. */
        user?: Text | undefined;
      };
    };
    answer: {
      readonly objectType: string;
      readonly objectID: bigint;
      readonly relation: string;
      readonly userID: bigint;
      readonly allowed: boolean;
      /** From the object to the user; each rests on the deeper ones after it. */
      readonly steps: readonly {
        readonly depth: number;
        readonly object: string;
        readonly relation: string;
        readonly text: string;
      }[];
      /** What would have to be so for the answer to be yes; empty for an object that the caller may not see. */
      readonly missing: readonly string[];
    };
  };
  /** Who holds a relation on an object */
  'GET /authz/objects/{objectType}/{objID}/principals': {
    input: {
      path: {
        objectType: Id;
        objID: Id;
      };
      query: {
        /** Name of the organization. */
        org: Text;
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
        /** One of the permissions that the object can have, such as can_view. */
        relation: Text;
      };
    };
    answer: readonly {
      readonly type: string;
      readonly id: bigint;
      readonly name: string;
    }[];
  };
  /** The custom roles */
  'GET /authz/roles': {
    input: {
      query: {
        /** Name of the organization. */
        org: Text;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly name: string;
      readonly owner_id: bigint;
      readonly description: string;
      readonly permissions: readonly {
        readonly namespace: string;
        readonly action: string;
      }[];
      readonly team_ids: readonly bigint[];
      readonly created_at: string;
      readonly updated_at: string;
    }[];
  };
  /** Make a role */
  'POST /authz/roles': {
    input: {
      query: {
        /** Name of the organization. */
        org: Text;
      };
      body: {
        readonly name: string;
        readonly description?: string | undefined;
        readonly permissions: readonly {
          readonly namespace: string;
          readonly action: string;
        }[];
        readonly teamIDs?: readonly (bigint | number)[] | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly name: string;
      readonly owner_id: bigint;
      readonly description: string;
      readonly permissions: readonly {
        readonly namespace: string;
        readonly action: string;
      }[];
      readonly team_ids: readonly bigint[];
      readonly created_at: string;
      readonly updated_at: string;
    };
  };
  /** The permissions that a role can hold */
  'GET /authz/roles/available_permissions': {
    input: {
      query: {
        /** Name of the organization. */
        org: Text;
      };
    };
    answer: {
      readonly permissions: readonly {
        readonly namespace: string;
        readonly action: string;
        readonly description: string;
        readonly associated?: readonly {
          readonly namespace: string;
          readonly action: string;
          readonly required: boolean;
        }[];
      }[];
    };
  };
  /** All custom roles as one document, YAML or JSON */
  'GET /authz/roles/export': {
    input: {
      query: {
        /** Name of the organization. */
        org: Text;
        /** yaml or json; else what Accept says, and YAML unless it says JSON. */
        format?: 'yaml' | 'json' | undefined;
      };
    };
    answer: undefined;
  };
  /** Make the custom roles those of a document, all or nothing; answers what changed */
  'PUT /authz/roles/import': {
    input: {
      query: {
        /** Name of the organization. */
        org: Text;
        /** Change nothing, but answer what would change. */
        dry_run?: Text | undefined;
        /** Delete the roles that the document does not name. */
        prune?: Text | undefined;
      };
      body: unknown | RawBody;
    };
    answer: {
      readonly changes: readonly ({
        readonly role: string;
        readonly kind: 'create' | 'update' | 'delete';
        readonly words: readonly string[];
      })[];
      readonly unchanged: number;
      /** Roles that the document does not name, and that stay. */
      readonly unmanaged: readonly string[];
      readonly dry_run: boolean;
    };
  };
  /** What making, changing or deleting a role would change, and for whom */
  'POST /authz/roles/preview': {
    input: {
      query: {
        /** Name of the organization. */
        org: Text;
      };
      body: {
        readonly name?: string | undefined;
        readonly description?: string | undefined;
        readonly permissions?: readonly {
          readonly namespace: string;
          readonly action: string;
        }[] | undefined;
        readonly teamIDs?: readonly (bigint | number)[] | undefined;
        readonly id?: bigint | number | undefined;
        /** With an id: preview deleting the role. */
        readonly delete?: boolean | undefined;
      } | RawBody;
    };
    answer: {
      readonly changes: readonly {
        readonly user: {
          readonly id: bigint;
          readonly name: string;
        };
        readonly gains: readonly {
          readonly namespace: string;
          readonly action: string;
        }[];
        readonly loses: readonly {
          readonly namespace: string;
          readonly action: string;
        }[];
      }[];
    };
  };
  /** One role */
  'GET /authz/roles/{id}': {
    input: {
      path: {
        id: Id;
      };
      query: {
        /** Name of the organization. */
        org: Text;
      };
    };
    answer: {
      readonly id: bigint;
      readonly name: string;
      readonly owner_id: bigint;
      readonly description: string;
      readonly permissions: readonly {
        readonly namespace: string;
        readonly action: string;
      }[];
      readonly team_ids: readonly bigint[];
      readonly created_at: string;
      readonly updated_at: string;
    };
  };
  /** Change a role; what is sent replaces what was there */
  'PUT /authz/roles/{id}': {
    input: {
      path: {
        id: Id;
      };
      query: {
        /** Name of the organization. */
        org: Text;
      };
      body: {
        readonly name?: string | undefined;
        readonly description?: string | undefined;
        readonly permissions?: readonly {
          readonly namespace: string;
          readonly action: string;
        }[] | undefined;
        readonly teamIDs?: readonly (bigint | number)[] | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly name: string;
      readonly owner_id: bigint;
      readonly description: string;
      readonly permissions: readonly {
        readonly namespace: string;
        readonly action: string;
      }[];
      readonly team_ids: readonly bigint[];
      readonly created_at: string;
      readonly updated_at: string;
    };
  };
  /** Delete a role */
  'DELETE /authz/roles/{id}': {
    input: {
      path: {
        id: Id;
      };
      query: {
        /** Name of the organization. */
        org: Text;
      };
    };
    answer: undefined;
  };
  /** Who is assigned to a role */
  'GET /authz/roles/{id}/principals': {
    input: {
      path: {
        id: Id;
      };
      query: {
        /** Name of the organization. */
        org: Text;
      };
    };
    answer: readonly {
      readonly type: string;
      readonly id: bigint;
      readonly name: string;
      readonly display_name: string;
      readonly assigned_at: string;
    }[];
  };
  /** One cluster */
  'GET /clusters/{id}': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: {
      readonly id: bigint;
      readonly displayName: string;
      readonly name: string;
      /** The UUID of its kube-system namespace. */
      readonly uid: string;
      readonly ownerID: bigint;
      readonly ownerName: string;
      readonly managerID: bigint;
      readonly externalID: string;
      readonly provider: string;
      readonly vendor: string;
      readonly orchestratorVersion: string;
      readonly nodeCount: number;
      readonly endpoint: string;
      readonly location: string;
      readonly project: string;
      readonly infraNamespace: string;
      readonly hubClusterName: string;
      readonly hubClusterUID: string;
      readonly clusterSetName: string;
      readonly clusterManagers: readonly string[];
      readonly isMonitoringCluster: boolean;
      readonly createdAt: string;
      /** Such as 43m, 8d or 6mo. */
      readonly age: string;
      readonly status: {
        readonly response: {
          readonly phase: string;
          readonly reason: string;
          readonly message: string;
        };
      };
      readonly hubClusterOwnerName: string;
      /** 1970-01-01T00:00:00Z: it never sent one. */
      readonly heartbeatAt: string;
    };
  };
  /** Edit a cluster; what is left out stays */
  'PATCH /clusters/{id}': {
    input: {
      path: {
        id: Id;
      };
      body: {
        readonly name?: string | undefined;
        /** The UUID of its kube-system namespace; cannot change. */
        readonly uid?: string | undefined;
        readonly displayName?: string | undefined;
        readonly managerID?: bigint | number | undefined;
        readonly externalID?: string | undefined;
        /** Such as AKS, EKS, GKE, Generic: any text. */
        readonly provider?: string | undefined;
        readonly vendor?: string | undefined;
        readonly orchestratorVersion?: string | undefined;
        readonly nodeCount?: number | undefined;
        readonly endpoint?: string | undefined;
        readonly location?: string | undefined;
        readonly project?: string | undefined;
        readonly infraNamespace?: string | undefined;
        readonly hubClusterName?: string | undefined;
        readonly hubClusterUID?: string | undefined;
        readonly hubClusterOwnerName?: string | undefined;
        readonly clusterSetName?: string | undefined;
        readonly clusterManagers?: readonly string[] | undefined;
        readonly isMonitoringCluster?: boolean | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly displayName: string;
      readonly name: string;
      /** The UUID of its kube-system namespace. */
      readonly uid: string;
      readonly ownerID: bigint;
      readonly ownerName: string;
      readonly managerID: bigint;
      readonly externalID: string;
      readonly provider: string;
      readonly vendor: string;
      readonly orchestratorVersion: string;
      readonly nodeCount: number;
      readonly endpoint: string;
      readonly location: string;
      readonly project: string;
      readonly infraNamespace: string;
      readonly hubClusterName: string;
      readonly hubClusterUID: string;
      readonly clusterSetName: string;
      readonly clusterManagers: readonly string[];
      readonly isMonitoringCluster: boolean;
      readonly createdAt: string;
      /** Such as 43m, 8d or 6mo. */
      readonly age: string;
      readonly status: {
        readonly response: {
          readonly phase: string;
          readonly reason: string;
          readonly message: string;
        };
      };
      readonly hubClusterOwnerName: string;
      /** 1970-01-01T00:00:00Z: it never sent one. */
      readonly heartbeatAt: string;
    };
  };
  /** Remove a cluster */
  'DELETE /clusters/{id}': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: undefined;
  };
  /** A cluster says that it is alive; also with the token of a robot account of its owner */
  'POST /clusters/{id}/heartbeat': {
    input: {
      path: {
        id: Id;
      };
      body: {
        readonly phase?: 'Active' | 'Inactive' | 'NotReady' | 'NotConnected' | 'Registered' | 'NotImported' | 'Lost' | undefined;
        readonly reason?: string | undefined;
        readonly message?: string | undefined;
        readonly nodeCount?: number | undefined;
        readonly orchestratorVersion?: string | undefined;
      } | RawBody;
    };
    answer: undefined;
  };
  /** One contract */
  'GET /contracts/{id}': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: {
      readonly id: bigint;
      readonly uid: string;
      readonly owner_id: bigint;
      readonly name: string;
      readonly product: string;
      readonly features: readonly string[];
      /** UIDs of clusters. */
      readonly clusters: readonly string[];
      readonly start: string;
      /** null for a contract that never ends */
      readonly end: string | null;
      readonly revoked: boolean;
      /** How much of what, such as {"nodes": 100}. */
      readonly quota: {
        readonly [key: string]: number;
      };
    };
  };
  /** Edit or revoke a contract; what is left out stays */
  'PATCH /contracts/{id}': {
    input: {
      path: {
        id: Id;
      };
      body: {
        readonly name?: string | undefined;
        readonly product?: string | undefined;
        readonly features?: readonly string[] | undefined;
        readonly clusters?: readonly string[] | undefined;
        readonly start?: string | undefined;
        readonly end?: string | null | undefined;
        /** How much of what, such as {"nodes": 100}. */
        readonly quota?: {
          readonly [key: string]: number;
        } | undefined;
        /** true revokes it, for good */
        readonly revoked?: boolean | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly uid: string;
      readonly owner_id: bigint;
      readonly name: string;
      readonly product: string;
      readonly features: readonly string[];
      /** UIDs of clusters. */
      readonly clusters: readonly string[];
      readonly start: string;
      /** null for a contract that never ends */
      readonly end: string | null;
      readonly revoked: boolean;
      /** How much of what, such as {"nodes": 100}. */
      readonly quota: {
        readonly [key: string]: number;
      };
    };
  };
  /** Delete a contract */
  'DELETE /contracts/{id}': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: undefined;
  };
  /** The organizations of the caller; for a site administrator all */
  'GET /orgs': {
    input: {
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly name: string;
      readonly username: string;
      readonly full_name: string;
      readonly avatar_url: string;
      readonly description: string;
      readonly website: string;
      readonly location: string;
      readonly visibility: string;
      readonly orgType: string;
    }[];
  };
  /** Make an organization; the caller becomes its owner */
  'POST /orgs': {
    input: {
      body: {
        readonly username: string;
        readonly full_name?: string | undefined;
        readonly description?: string | undefined;
        /** An http address, or empty. */
        readonly website?: string | undefined;
        readonly location?: string | undefined;
        readonly visibility?: 'public' | 'limited' | 'private' | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly name: string;
      readonly username: string;
      readonly full_name: string;
      readonly avatar_url: string;
      readonly description: string;
      readonly website: string;
      readonly location: string;
      readonly visibility: string;
      readonly orgType: string;
    };
  };
  /** One organization */
  'GET /orgs/{org}': {
    input: {
      path: {
        org: Id;
      };
    };
    answer: {
      readonly id: bigint;
      readonly name: string;
      readonly username: string;
      readonly full_name: string;
      readonly avatar_url: string;
      readonly description: string;
      readonly website: string;
      readonly location: string;
      readonly visibility: string;
      readonly orgType: string;
    };
  };
  /** Change an organization; what is left out stays */
  'PATCH /orgs/{org}': {
    input: {
      path: {
        org: Id;
      };
      body: {
        /** The name of the organization. */
        readonly username?: string | undefined;
        readonly full_name?: string | undefined;
        readonly description?: string | undefined;
        /** An http address, or empty. */
        readonly website?: string | undefined;
        readonly location?: string | undefined;
        readonly visibility?: 'public' | 'limited' | 'private' | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly name: string;
      readonly username: string;
      readonly full_name: string;
      readonly avatar_url: string;
      readonly description: string;
      readonly website: string;
      readonly location: string;
      readonly visibility: string;
      readonly orgType: string;
    };
  };
  /** Delete an organization with all that it has */
  'DELETE /orgs/{org}': {
    input: {
      path: {
        org: Id;
      };
    };
    answer: undefined;
  };
  /** The audit log of an organization, newest first */
  'GET /orgs/{org}/audit': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Who did it: a login name, or the ID of an account (also of one that is gone; 0: the server itself). */
        actor?: Text | undefined;
        /** What was done, such as role.create; with a dot at the end all that begins so: role. */
        action?: Text | undefined;
        /** What it was done to, such as cluster:7; cluster alone: all clusters. */
        object?: Text | undefined;
        /** From this time on (RFC 3339). */
        since?: Text | undefined;
        /** Before this time (RFC 3339). */
        until?: Text | undefined;
        /** Go on behind here: the next_cursor of the page before. */
        cursor?: Text | undefined;
        /** Entries a page; 30 unless said, at most 200. */
        limit?: Text | undefined;
      };
    };
    answer: {
      readonly items: readonly {
        readonly id: bigint;
        readonly at: string;
        readonly organization_id: bigint;
        readonly actor: {
          readonly id: bigint;
          readonly name: string;
        };
        readonly action: string;
        readonly object: {
          readonly type: string;
          readonly id: bigint;
        };
        /** What it was like; null where there was nothing. */
        readonly before: unknown;
        /** What it was like; null where there was nothing. */
        readonly after: unknown;
        readonly request_id: string;
        readonly previous_hash: string;
        /** SHA-256, in hexadecimal, over the 32 bytes of previous_hash followed by the UTF-8 text of a JSON array without blanks: at, organization_id, actor.id, actor.name, action, object.type, object.id, before, after, request_id, previous_hash. All are strings: numbers in decimal, before and after as they stand in this answer, letter for letter, or null. The first entry of an organization has zeros for previous_hash. */
        readonly hash: string;
      }[];
      readonly next_cursor: string | null;
    };
  };
  /** The audit log of an organization as a stream of JSON lines, oldest first */
  'GET /orgs/{org}/audit/export': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Who did it: a login name, or the ID of an account (also of one that is gone; 0: the server itself). */
        actor?: Text | undefined;
        /** What was done, such as role.create; with a dot at the end all that begins so: role. */
        action?: Text | undefined;
        /** What it was done to, such as cluster:7; cluster alone: all clusters. */
        object?: Text | undefined;
        /** From this time on (RFC 3339). */
        since?: Text | undefined;
        /** Before this time (RFC 3339). */
        until?: Text | undefined;
      };
    };
    answer: undefined;
  };
  /** Whether the audit log of an organization is whole: every entry must follow from the one before */
  'GET /orgs/{org}/audit/verify': {
    input: {
      path: {
        org: Id;
      };
    };
    answer: {
      readonly rows: number;
      readonly ok: boolean;
      readonly first_broken_id: bigint | null;
    };
  };
  /** The clusters of an organization */
  'GET /orgs/{org}/clusters': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
        /** Only the cluster with this very name. */
        name?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly displayName: string;
      readonly name: string;
      /** The UUID of its kube-system namespace. */
      readonly uid: string;
      readonly ownerID: bigint;
      readonly ownerName: string;
      readonly managerID: bigint;
      readonly externalID: string;
      readonly provider: string;
      readonly vendor: string;
      readonly orchestratorVersion: string;
      readonly nodeCount: number;
      readonly endpoint: string;
      readonly location: string;
      readonly project: string;
      readonly infraNamespace: string;
      readonly hubClusterName: string;
      readonly hubClusterUID: string;
      readonly clusterSetName: string;
      readonly clusterManagers: readonly string[];
      readonly isMonitoringCluster: boolean;
      readonly createdAt: string;
      /** Such as 43m, 8d or 6mo. */
      readonly age: string;
      readonly status: {
        readonly response: {
          readonly phase: string;
          readonly reason: string;
          readonly message: string;
        };
      };
      readonly hubClusterOwnerName: string;
      /** 1970-01-01T00:00:00Z: it never sent one. */
      readonly heartbeatAt: string;
    }[];
  };
  /** Import a cluster into an organization */
  'POST /orgs/{org}/clusters': {
    input: {
      path: {
        org: Id;
      };
      body: {
        readonly name: string;
        readonly uid: string;
        readonly displayName?: string | undefined;
        readonly managerID?: bigint | number | undefined;
        readonly externalID?: string | undefined;
        /** Such as AKS, EKS, GKE, Generic: any text. */
        readonly provider?: string | undefined;
        readonly vendor?: string | undefined;
        readonly orchestratorVersion?: string | undefined;
        readonly nodeCount?: number | undefined;
        readonly endpoint?: string | undefined;
        readonly location?: string | undefined;
        readonly project?: string | undefined;
        readonly infraNamespace?: string | undefined;
        readonly hubClusterName?: string | undefined;
        readonly hubClusterUID?: string | undefined;
        readonly hubClusterOwnerName?: string | undefined;
        readonly clusterSetName?: string | undefined;
        readonly clusterManagers?: readonly string[] | undefined;
        readonly isMonitoringCluster?: boolean | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly displayName: string;
      readonly name: string;
      /** The UUID of its kube-system namespace. */
      readonly uid: string;
      readonly ownerID: bigint;
      readonly ownerName: string;
      readonly managerID: bigint;
      readonly externalID: string;
      readonly provider: string;
      readonly vendor: string;
      readonly orchestratorVersion: string;
      readonly nodeCount: number;
      readonly endpoint: string;
      readonly location: string;
      readonly project: string;
      readonly infraNamespace: string;
      readonly hubClusterName: string;
      readonly hubClusterUID: string;
      readonly clusterSetName: string;
      readonly clusterManagers: readonly string[];
      readonly isMonitoringCluster: boolean;
      readonly createdAt: string;
      /** Such as 43m, 8d or 6mo. */
      readonly age: string;
      readonly status: {
        readonly response: {
          readonly phase: string;
          readonly reason: string;
          readonly message: string;
        };
      };
      readonly hubClusterOwnerName: string;
      /** 1970-01-01T00:00:00Z: it never sent one. */
      readonly heartbeatAt: string;
    };
  };
  /** The contracts of an organization */
  'GET /orgs/{org}/contracts': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
        name?: Text | undefined;
      };
    };
    answer: readonly ({
      readonly id: bigint;
      readonly uid: string;
      readonly owner_id: bigint;
      readonly name: string;
      readonly product: string;
      readonly features: readonly string[];
      /** UIDs of clusters. */
      readonly clusters: readonly string[];
      readonly start: string;
      /** null for a contract that never ends */
      readonly end: string | null;
      readonly revoked: boolean;
      /** How much of what, such as {"nodes": 100}. */
      readonly quota: {
        readonly [key: string]: number;
      };
    })[];
  };
  /** Make a contract */
  'POST /orgs/{org}/contracts': {
    input: {
      path: {
        org: Id;
      };
      body: {
        readonly name: string;
        readonly product?: string | undefined;
        readonly features?: readonly string[] | undefined;
        readonly clusters?: readonly string[] | undefined;
        readonly start?: string | undefined;
        readonly end?: string | null | undefined;
        /** How much of what, such as {"nodes": 100}. */
        readonly quota?: {
          readonly [key: string]: number;
        } | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly uid: string;
      readonly owner_id: bigint;
      readonly name: string;
      readonly product: string;
      readonly features: readonly string[];
      /** UIDs of clusters. */
      readonly clusters: readonly string[];
      readonly start: string;
      /** null for a contract that never ends */
      readonly end: string | null;
      readonly revoked: boolean;
      /** How much of what, such as {"nodes": 100}. */
      readonly quota: {
        readonly [key: string]: number;
      };
    };
  };
  /** Who is in the organization */
  'GET /orgs/{org}/members': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly login: string;
      readonly username: string;
      readonly full_name: string;
      readonly email: string;
      readonly avatar_url: string;
      readonly language: string;
      readonly is_admin: boolean;
      readonly last_login: string;
      readonly created: string;
      /** 0 a person, 1 an organization */
      readonly type: number;
      readonly active: boolean;
      readonly prohibit_login: boolean;
      readonly location: string;
      readonly website: string;
      readonly description: string;
      readonly orgAdmin: boolean;
      readonly clientOrgUser?: boolean;
    }[];
  };
  /** Whether somebody is in the organization: 204 if so, else 404 */
  'GET /orgs/{org}/members/{username}': {
    input: {
      path: {
        org: Id;
        username: Id;
      };
    };
    answer: undefined;
  };
  /** Bring somebody into the organization, into a team of it */
  'PUT /orgs/{org}/members/{username}': {
    input: {
      path: {
        org: Id;
        username: Id;
      };
      body: {
        /** Name of a team; Viewers unless said. */
        readonly team?: string | undefined;
      } | RawBody;
    };
    answer: undefined;
  };
  /** Take somebody out of all teams: oneself, or others with remove_member:org */
  'DELETE /orgs/{org}/members/{username}': {
    input: {
      path: {
        org: Id;
        username: Id;
      };
    };
    answer: undefined;
  };
  /** The robot accounts of an organization */
  'GET /orgs/{org}/robots': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
        name?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly owner_id: bigint;
      readonly name: string;
      readonly description: string;
      readonly created_at: string;
    }[];
  };
  /** Make a robot account */
  'POST /orgs/{org}/robots': {
    input: {
      path: {
        org: Id;
      };
      body: {
        readonly name: string;
        readonly description?: string | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly owner_id: bigint;
      readonly name: string;
      readonly description: string;
      readonly created_at: string;
    };
  };
  /** The teams of the organization */
  'GET /orgs/{org}/teams': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly name: string;
      readonly description: string;
      readonly organization: {
        readonly id: bigint;
        readonly name: string;
        readonly username: string;
        readonly full_name: string;
        readonly avatar_url: string;
        readonly description: string;
        readonly website: string;
        readonly location: string;
        readonly visibility: string;
        readonly orgType: string;
      };
      /** none, read, write, admin or owner */
      readonly permission: string;
      readonly units: readonly string[];
      readonly type: string;
      readonly role_ids: readonly bigint[];
    }[];
  };
  /** Make a team */
  'POST /orgs/{org}/teams': {
    input: {
      path: {
        org: Id;
      };
      body: {
        readonly name: string;
        readonly description?: string | undefined;
        /** none, read, write or admin; owner is that of the built-in owners alone */
        readonly permission?: 'none' | 'read' | 'write' | 'admin' | 'owner' | undefined;
        readonly units?: readonly string[] | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly name: string;
      readonly description: string;
      readonly organization: {
        readonly id: bigint;
        readonly name: string;
        readonly username: string;
        readonly full_name: string;
        readonly avatar_url: string;
        readonly description: string;
        readonly website: string;
        readonly location: string;
        readonly visibility: string;
        readonly orgType: string;
      };
      /** none, read, write, admin or owner */
      readonly permission: string;
      readonly units: readonly string[];
      readonly type: string;
      readonly role_ids: readonly bigint[];
    };
  };
  /** The teams of the organization whose name holds a text */
  'GET /orgs/{org}/teams/search': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        q?: Text | undefined;
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: {
      readonly ok: boolean;
      readonly data: readonly {
        readonly id: bigint;
        readonly name: string;
        readonly description: string;
        readonly organization: {
          readonly id: bigint;
          readonly name: string;
          readonly username: string;
          readonly full_name: string;
          readonly avatar_url: string;
          readonly description: string;
          readonly website: string;
          readonly location: string;
          readonly visibility: string;
          readonly orgType: string;
        };
        /** none, read, write, admin or owner */
        readonly permission: string;
        readonly units: readonly string[];
        readonly type: string;
        readonly role_ids: readonly bigint[];
      }[];
    };
  };
  /** One robot account */
  'GET /robots/{id}': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: {
      readonly id: bigint;
      readonly owner_id: bigint;
      readonly name: string;
      readonly description: string;
      readonly created_at: string;
    };
  };
  /** Edit a robot account; what is left out stays */
  'PATCH /robots/{id}': {
    input: {
      path: {
        id: Id;
      };
      body: {
        readonly name?: string | undefined;
        readonly description?: string | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly owner_id: bigint;
      readonly name: string;
      readonly description: string;
      readonly created_at: string;
    };
  };
  /** Delete a robot account and end its tokens */
  'DELETE /robots/{id}': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: undefined;
  };
  /** The access tokens of a robot account */
  'GET /robots/{id}/tokens': {
    input: {
      path: {
        id: Id;
      };
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly ({
      readonly id: bigint;
      readonly name: string;
      /** The token itself, shown only when it is made. */
      readonly sha1: string;
      readonly token_last_eight: string;
      readonly scopes: readonly string[];
      readonly created_at: string;
      readonly last_used_at: string;
      /** null for a token that never expires */
      readonly expires_at: string | null;
    })[];
  };
  /** Make an access token for a robot account */
  'POST /robots/{id}/tokens': {
    input: {
      path: {
        id: Id;
      };
      body: {
        readonly name: string;
        readonly scopes?: readonly string[] | undefined;
        readonly expires_at?: string | null | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly name: string;
      /** The token itself, shown only when it is made. */
      readonly sha1: string;
      readonly token_last_eight: string;
      readonly scopes: readonly string[];
      readonly created_at: string;
      readonly last_used_at: string;
      /** null for a token that never expires */
      readonly expires_at: string | null;
    };
  };
  /** Revoke an access token of a robot account, by id or name */
  'DELETE /robots/{id}/tokens/{token}': {
    input: {
      path: {
        id: Id;
        token: Id;
      };
    };
    answer: undefined;
  };
  /** One team */
  'GET /teams/{id}': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: {
      readonly id: bigint;
      readonly name: string;
      readonly description: string;
      readonly organization: {
        readonly id: bigint;
        readonly name: string;
        readonly username: string;
        readonly full_name: string;
        readonly avatar_url: string;
        readonly description: string;
        readonly website: string;
        readonly location: string;
        readonly visibility: string;
        readonly orgType: string;
      };
      /** none, read, write, admin or owner */
      readonly permission: string;
      readonly units: readonly string[];
      readonly type: string;
      readonly role_ids: readonly bigint[];
    };
  };
  /** Change a team; what is left out stays */
  'PATCH /teams/{id}': {
    input: {
      path: {
        id: Id;
      };
      body: {
        readonly name?: string | undefined;
        readonly description?: string | undefined;
        /** none, read, write or admin; owner is that of the built-in owners alone */
        readonly permission?: 'none' | 'read' | 'write' | 'admin' | 'owner' | undefined;
        readonly units?: readonly string[] | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly name: string;
      readonly description: string;
      readonly organization: {
        readonly id: bigint;
        readonly name: string;
        readonly username: string;
        readonly full_name: string;
        readonly avatar_url: string;
        readonly description: string;
        readonly website: string;
        readonly location: string;
        readonly visibility: string;
        readonly orgType: string;
      };
      /** none, read, write, admin or owner */
      readonly permission: string;
      readonly units: readonly string[];
      readonly type: string;
      readonly role_ids: readonly bigint[];
    };
  };
  /** Delete a team */
  'DELETE /teams/{id}': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: undefined;
  };
  /** Who is in the team */
  'GET /teams/{id}/members': {
    input: {
      path: {
        id: Id;
      };
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly login: string;
      readonly username: string;
      readonly full_name: string;
      readonly email: string;
      readonly avatar_url: string;
      readonly language: string;
      readonly is_admin: boolean;
      readonly last_login: string;
      readonly created: string;
      /** 0 a person, 1 an organization */
      readonly type: number;
      readonly active: boolean;
      readonly prohibit_login: boolean;
      readonly location: string;
      readonly website: string;
      readonly description: string;
      readonly orgAdmin: boolean;
      readonly clientOrgUser?: boolean;
    }[];
  };
  /** One member of the team */
  'GET /teams/{id}/members/{username}': {
    input: {
      path: {
        id: Id;
        username: Id;
      };
    };
    answer: {
      readonly id: bigint;
      readonly login: string;
      readonly username: string;
      readonly full_name: string;
      readonly email: string;
      readonly avatar_url: string;
      readonly language: string;
      readonly is_admin: boolean;
      readonly last_login: string;
      readonly created: string;
      /** 0 a person, 1 an organization */
      readonly type: number;
      readonly active: boolean;
      readonly prohibit_login: boolean;
      readonly location: string;
      readonly website: string;
      readonly description: string;
      readonly orgAdmin: boolean;
      readonly clientOrgUser?: boolean;
    };
  };
  /** Put somebody into the team */
  'PUT /teams/{id}/members/{username}': {
    input: {
      path: {
        id: Id;
        username: Id;
      };
    };
    answer: undefined;
  };
  /** Take somebody out of the team */
  'DELETE /teams/{id}/members/{username}': {
    input: {
      path: {
        id: Id;
        username: Id;
      };
    };
    answer: undefined;
  };
  /** The custom roles of the team */
  'GET /teams/{id}/roles': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly name: string;
      readonly owner_id: bigint;
      readonly description: string;
      readonly permissions: readonly {
        readonly namespace: string;
        readonly action: string;
      }[];
      readonly team_ids: readonly bigint[];
      readonly created_at: string;
      readonly updated_at: string;
    }[];
  };
  /** Give the team a role; needs edit_roles:org */
  'PUT /teams/{id}/roles/{role}': {
    input: {
      path: {
        id: Id;
        /** ID of a custom role. */
        role: Id;
      };
    };
    answer: undefined;
  };
  /** Take a role from the team; needs edit_roles:org */
  'DELETE /teams/{id}/roles/{role}': {
    input: {
      path: {
        id: Id;
        /** ID of a custom role. */
        role: Id;
      };
    };
    answer: undefined;
  };
  /** The signed-in user */
  'GET /user': {
    input: {
      query?: {
        /** "true" fills clientOrgUser */
        check_client_org?: Text | undefined;
      };
    };
    answer: {
      readonly id: bigint;
      readonly login: string;
      readonly username: string;
      readonly full_name: string;
      readonly email: string;
      readonly avatar_url: string;
      readonly language: string;
      readonly is_admin: boolean;
      readonly last_login: string;
      readonly created: string;
      /** 0 a person, 1 an organization */
      readonly type: number;
      readonly active: boolean;
      readonly prohibit_login: boolean;
      readonly location: string;
      readonly website: string;
      readonly description: string;
      readonly orgAdmin: boolean;
      readonly clientOrgUser?: boolean;
    };
  };
  /** Credentials of the administrative account */
  'GET /user/bus/admin_credentials': {
    input: {
    };
    answer: {
      /** Where to connect: TCP first, then websocket. */
      readonly busEndpoints: readonly string[];
      /** Public key of the account. */
      readonly account: string;
      /** Public key of the user. */
      readonly user: string;
      readonly jwt: string;
      /** The secret of the user. */
      readonly seed: string;
      /** A .creds file of NATS, in base64. */
      readonly credentials: string;
    };
  };
  /** What a cluster reported about its resources */
  'GET /user/bus/cluster-resource-history': {
    input: {
      query: {
        /** UID of the cluster. */
        cluster: Text;
        /** API group; empty: the core group. */
        group?: Text | undefined;
        /** Kind of resource. */
        resource?: Text | undefined;
        /** ID of the resource. */
        rid?: Text | undefined;
        /** Only what was reported since this moment (RFC 3339). */
        since?: Text | undefined;
        /** Items wanted; at most and by default 1000. */
        limit?: Text | undefined;
        /** Where the page before ended. */
        cursor?: Text | undefined;
      };
    };
    answer: {
      readonly items: readonly {
        readonly key: string;
        readonly values: readonly {
          readonly resource: string;
          readonly resourceID: string;
          readonly licenseID: string;
          readonly version: string;
          readonly timestamp: string;
        }[];
        readonly lastSeen: string;
      }[];
      /** Send it back for the next page; absent on the last one. */
      readonly cursor?: string;
    };
  };
  /** Message bus credentials of the caller */
  'GET /user/bus/credentials': {
    input: {
    };
    answer: {
      /** Where to connect: TCP first, then websocket. */
      readonly busEndpoints: readonly string[];
      /** A .creds file of NATS, in base64. */
      readonly credentials: string;
    };
  };
  /** Message bus credentials of a user */
  'GET /user/bus/user_credentials': {
    input: {
      query?: {
        /** Login name; default: the caller. */
        user?: Text | undefined;
      };
    };
    answer: {
      /** Where to connect: TCP first, then websocket. */
      readonly busEndpoints: readonly string[];
      /** Public key of the account. */
      readonly account: string;
      /** Public key of the user. */
      readonly user: string;
      readonly jwt: string;
      /** The secret of the user. */
      readonly seed: string;
      /** A .creds file of NATS, in base64. */
      readonly credentials: string;
    };
  };
  /** The buckets that a credential can see */
  'GET /user/clouds/{cloud}/buckets': {
    input: {
      path: {
        /** aws or s3, azure or azureStorage, gcp, gcs or gce; S3-compatible services: s3 */
        cloud: Id;
      };
      query?: {
        /** Name of the cloud credential; or else secret_namespace and secret_name. */
        credential?: Text | undefined;
        /** Project to look in, where buckets belong to projects. */
        cloudC_project?: Text | undefined;
        /** UID of the cluster that the question is about; required. */
        cluster_uid?: Text | undefined;
        /** Where in the cluster the secret stands. */
        secret_namespace?: Text | undefined;
        /** Secret of the cluster that holds the keys. */
        secret_name?: Text | undefined;
        /** Accepted and not used: the cloud stands in the path. */
        provider?: Text | undefined;
      };
      body: {
        /** Name of the cloud credential; or else secret_namespace and secret_name. */
        readonly credential?: string | undefined;
        /** Project to look in, where buckets belong to projects. */
        readonly cloudC_project?: string | undefined;
        /** UID of the cluster that the question is about; required. */
        readonly cluster_uid?: string | undefined;
        /** Where in the cluster the secret stands. */
        readonly secret_namespace?: string | undefined;
        /** Secret of the cluster that holds the keys. */
        readonly secret_name?: string | undefined;
        /** Accepted and not used: the cloud stands in the path. */
        readonly provider?: string | undefined;
      } | RawBody;
    };
    answer: {
      readonly names: readonly string[];
    };
  };
  /** The same, for clients whose GET cannot have a body */
  'POST /user/clouds/{cloud}/buckets': {
    input: {
      path: {
        /** aws or s3, azure or azureStorage, gcp, gcs or gce; S3-compatible services: s3 */
        cloud: Id;
      };
      query?: {
        /** Name of the cloud credential; or else secret_namespace and secret_name. */
        credential?: Text | undefined;
        /** Project to look in, where buckets belong to projects. */
        cloudC_project?: Text | undefined;
        /** UID of the cluster that the question is about; required. */
        cluster_uid?: Text | undefined;
        /** Where in the cluster the secret stands. */
        secret_namespace?: Text | undefined;
        /** Secret of the cluster that holds the keys. */
        secret_name?: Text | undefined;
        /** Accepted and not used: the cloud stands in the path. */
        provider?: Text | undefined;
      };
      body: {
        /** Name of the cloud credential; or else secret_namespace and secret_name. */
        readonly credential?: string | undefined;
        /** Project to look in, where buckets belong to projects. */
        readonly cloudC_project?: string | undefined;
        /** UID of the cluster that the question is about; required. */
        readonly cluster_uid?: string | undefined;
        /** Where in the cluster the secret stands. */
        readonly secret_namespace?: string | undefined;
        /** Secret of the cluster that holds the keys. */
        readonly secret_name?: string | undefined;
        /** Accepted and not used: the cloud stands in the path. */
        readonly provider?: string | undefined;
      } | RawBody;
    };
    answer: {
      readonly names: readonly string[];
    };
  };
  /** The clusters of the caller */
  'GET /user/clusters': {
    input: {
      query?: {
        /** "true": also those of others that the caller may view */
        all?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly displayName: string;
      readonly name: string;
      /** The UUID of its kube-system namespace. */
      readonly uid: string;
      readonly ownerID: bigint;
      readonly ownerName: string;
      readonly managerID: bigint;
      readonly externalID: string;
      readonly provider: string;
      readonly vendor: string;
      readonly orchestratorVersion: string;
      readonly nodeCount: number;
      readonly endpoint: string;
      readonly location: string;
      readonly project: string;
      readonly infraNamespace: string;
      readonly hubClusterName: string;
      readonly hubClusterUID: string;
      readonly clusterSetName: string;
      readonly clusterManagers: readonly string[];
      readonly isMonitoringCluster: boolean;
      readonly createdAt: string;
      /** Such as 43m, 8d or 6mo. */
      readonly age: string;
      readonly status: {
        readonly response: {
          readonly phase: string;
          readonly reason: string;
          readonly message: string;
        };
      };
    }[];
  };
  /** Import a cluster for oneself */
  'POST /user/clusters': {
    input: {
      body: {
        readonly name: string;
        readonly uid: string;
        readonly displayName?: string | undefined;
        readonly managerID?: bigint | number | undefined;
        readonly externalID?: string | undefined;
        /** Such as AKS, EKS, GKE, Generic: any text. */
        readonly provider?: string | undefined;
        readonly vendor?: string | undefined;
        readonly orchestratorVersion?: string | undefined;
        readonly nodeCount?: number | undefined;
        readonly endpoint?: string | undefined;
        readonly location?: string | undefined;
        readonly project?: string | undefined;
        readonly infraNamespace?: string | undefined;
        readonly hubClusterName?: string | undefined;
        readonly hubClusterUID?: string | undefined;
        readonly hubClusterOwnerName?: string | undefined;
        readonly clusterSetName?: string | undefined;
        readonly clusterManagers?: readonly string[] | undefined;
        readonly isMonitoringCluster?: boolean | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly displayName: string;
      readonly name: string;
      /** The UUID of its kube-system namespace. */
      readonly uid: string;
      readonly ownerID: bigint;
      readonly ownerName: string;
      readonly managerID: bigint;
      readonly externalID: string;
      readonly provider: string;
      readonly vendor: string;
      readonly orchestratorVersion: string;
      readonly nodeCount: number;
      readonly endpoint: string;
      readonly location: string;
      readonly project: string;
      readonly infraNamespace: string;
      readonly hubClusterName: string;
      readonly hubClusterUID: string;
      readonly clusterSetName: string;
      readonly clusterManagers: readonly string[];
      readonly isMonitoringCluster: boolean;
      readonly createdAt: string;
      /** Such as 43m, 8d or 6mo. */
      readonly age: string;
      readonly status: {
        readonly response: {
          readonly phase: string;
          readonly reason: string;
          readonly message: string;
        };
      };
    };
  };
  /** Your cloud credentials */
  'GET /user/credentials': {
    input: {
      query?: {
        /** Only credentials of these types; may be repeated or hold several, separated by commas. */
        credential_type?: string | readonly string[] | undefined;
        /** Leaves out management platforms at another address than this. */
        mgmt_endpoint?: Text | undefined;
      };
    };
    answer: readonly {
      readonly name: string;
      readonly creationTimestamp: string;
      readonly [key: string]: unknown;
    }[];
  };
  /** Keep a cloud credential */
  'POST /user/credentials': {
    input: {
      body: {
        /** 1 to 100 letters, digits, ".", "_" or "-"; yours alone */
        readonly name: string;
        readonly [key: string]: unknown;
      } | RawBody;
    };
    answer: undefined;
  };
  /** Replace the credential that the body names */
  'PUT /user/credentials': {
    input: {
      body: {
        /** 1 to 100 letters, digits, ".", "_" or "-"; yours alone */
        readonly name: string;
        readonly [key: string]: unknown;
      } | RawBody;
    };
    answer: undefined;
  };
  /** One cloud credential */
  'GET /user/credentials/{credName}': {
    input: {
      path: {
        credName: Id;
      };
    };
    answer: {
      readonly name: string;
      readonly creationTimestamp: string;
      readonly [key: string]: unknown;
    };
  };
  /** Forget a cloud credential */
  'DELETE /user/credentials/{credName}': {
    input: {
      path: {
        credName: Id;
      };
    };
    answer: undefined;
  };
  /** Order charts to be deployed */
  'POST /user/deploy/orders': {
    input: {
      body: {
        readonly spec: {
          readonly items?: readonly ({
            readonly chart: {
              readonly name: string;
              readonly sourceRef: {
                readonly apiGroup?: string | null | undefined;
                readonly kind?: string | null | undefined;
                readonly namespace?: string | null | undefined;
                readonly name: string;
                readonly url?: string | null | undefined;
              };
              readonly version: string;
              readonly releaseName: string;
              readonly namespace: string;
              readonly values?: {
                readonly [key: string]: unknown;
              } | null | undefined;
              readonly valuesPatch?: readonly ({
                readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
                readonly path: string;
                readonly from?: string | null | undefined;
                readonly value?: unknown | undefined;
              })[] | null | undefined;
            };
          })[] | null | undefined;
        };
      } | RawBody;
    };
    answer: unknown;
  };
  /** The Flux manifests of an order, as YAML */
  'GET /user/deploy/orders/{id}/render/manifest': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: undefined;
  };
  /** The resources of an order, chart by chart */
  'GET /user/deploy/orders/{id}/render/resources': {
    input: {
      path: {
        id: Id;
      };
      query?: {
        format?: Text | undefined;
        skipCRDs?: Text | undefined;
      };
    };
    answer: undefined;
  };
  /** The addresses of the caller */
  'GET /user/emails': {
    input: {
    };
    answer: readonly {
      readonly email: string;
      readonly verified: boolean;
      readonly primary: boolean;
    }[];
  };
  /** Add addresses, all or none */
  'POST /user/emails': {
    input: {
      body: {
        readonly emails: readonly string[];
      } | RawBody;
    };
    answer: readonly {
      readonly email: string;
      readonly verified: boolean;
      readonly primary: boolean;
    }[];
  };
  /** Remove addresses, all or none */
  'DELETE /user/emails': {
    input: {
      body: {
        readonly emails: readonly string[] | null;
      } | RawBody;
    };
    answer: undefined;
  };
  /** Confirm an address: the link in the letter */
  'GET /user/emails/confirm': {
    input: {
      query: {
        key: Text;
      };
    };
    answer: {
      readonly message: string;
    };
  };
  /** Who follows the caller, newest first */
  'GET /user/followers': {
    input: {
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly login: string;
      readonly username: string;
      readonly full_name: string;
      readonly email: string;
      readonly avatar_url: string;
      readonly language: string;
      readonly is_admin: boolean;
      readonly last_login: string;
      readonly created: string;
      /** 0 a person, 1 an organization */
      readonly type: number;
      readonly active: boolean;
      readonly prohibit_login: boolean;
      readonly location: string;
      readonly website: string;
      readonly description: string;
      readonly orgAdmin: boolean;
      readonly clientOrgUser?: boolean;
    }[];
  };
  /** Whom the caller follows, newest first */
  'GET /user/following': {
    input: {
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly login: string;
      readonly username: string;
      readonly full_name: string;
      readonly email: string;
      readonly avatar_url: string;
      readonly language: string;
      readonly is_admin: boolean;
      readonly last_login: string;
      readonly created: string;
      /** 0 a person, 1 an organization */
      readonly type: number;
      readonly active: boolean;
      readonly prohibit_login: boolean;
      readonly location: string;
      readonly website: string;
      readonly description: string;
      readonly orgAdmin: boolean;
      readonly clientOrgUser?: boolean;
    }[];
  };
  /** Whether the caller follows somebody: 204 if so, else 404 */
  'GET /user/following/{username}': {
    input: {
      path: {
        username: Id;
      };
    };
    answer: undefined;
  };
  /** Follow somebody */
  'PUT /user/following/{username}': {
    input: {
      path: {
        username: Id;
      };
    };
    answer: undefined;
  };
  /** Follow somebody no longer */
  'DELETE /user/following/{username}': {
    input: {
      path: {
        username: Id;
      };
    };
    answer: undefined;
  };
  /** A short-lived signed token that says who the caller is */
  'GET /user/hosted-token': {
    input: {
    };
    answer: {
      readonly hostedToken: string;
    };
  };
  /** The organizations that the caller is in, in pages */
  'GET /user/orgs': {
    input: {
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly name: string;
      readonly username: string;
      readonly full_name: string;
      readonly avatar_url: string;
      readonly description: string;
      readonly website: string;
      readonly location: string;
      readonly visibility: string;
      readonly orgType: string;
    }[];
  };
  /** The organizations that the caller is in */
  'GET /user/settings/organizations': {
    input: {
    };
    answer: readonly {
      readonly id: bigint;
      readonly name: string;
      readonly username: string;
      readonly full_name: string;
      readonly avatar_url: string;
      readonly description: string;
      readonly website: string;
      readonly location: string;
      readonly visibility: string;
      readonly orgType: string;
    }[];
  };
  /** Open a browser session */
  'POST /user/signin': {
    input: {
      body: {
        readonly username: string;
        readonly password: string;
        readonly remember?: boolean | null | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly login: string;
      readonly username: string;
      readonly full_name: string;
      readonly email: string;
      readonly avatar_url: string;
      readonly language: string;
      readonly is_admin: boolean;
      readonly last_login: string;
      readonly created: string;
      /** 0 a person, 1 an organization */
      readonly type: number;
      readonly active: boolean;
      readonly prohibit_login: boolean;
      readonly location: string;
      readonly website: string;
      readonly description: string;
      readonly orgAdmin: boolean;
      readonly clientOrgUser?: boolean;
    };
  };
  /** End the browser session */
  'GET /user/signout': {
    input: {
    };
    answer: undefined;
  };
  /** All teams that the caller is in; in pages only when asked for */
  'GET /user/teams': {
    input: {
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly name: string;
      readonly description: string;
      readonly organization: {
        readonly id: bigint;
        readonly name: string;
        readonly username: string;
        readonly full_name: string;
        readonly avatar_url: string;
        readonly description: string;
        readonly website: string;
        readonly location: string;
        readonly visibility: string;
        readonly orgType: string;
      };
      /** none, read, write, admin or owner */
      readonly permission: string;
      readonly units: readonly string[];
      readonly type: string;
      readonly role_ids: readonly bigint[];
    }[];
  };
  /** Could this address be used? */
  'POST /user/validate/email': {
    input: {
      query?: {
        email?: Text | undefined;
      };
    };
    answer: {
      /** VALID, USER_EXISTS, RESERVED, INVALID or NOT_ALLOWED */
      readonly Status: string;
    };
  };
  /** Could this organization name be taken? */
  'POST /user/validate/orgname': {
    input: {
      query?: {
        user_name?: Text | undefined;
        org?: Text | undefined;
      };
    };
    answer: {
      /** VALID, USER_EXISTS, RESERVED, INVALID or NOT_ALLOWED */
      readonly Status: string;
    };
  };
  /** Could this user name be taken? */
  'POST /user/validate/username': {
    input: {
      query?: {
        user_name?: Text | undefined;
      };
    };
    answer: {
      /** VALID, USER_EXISTS, RESERVED, INVALID or NOT_ALLOWED */
      readonly Status: string;
    };
  };
  /** Users whose name holds a text */
  'GET /users/search': {
    input: {
      query?: {
        /** A part of a name. */
        q?: Text | undefined;
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: {
      readonly ok: boolean;
      readonly data: readonly {
        readonly id: bigint;
        readonly login: string;
        readonly username: string;
        readonly full_name: string;
        readonly email: string;
        readonly avatar_url: string;
        readonly language: string;
        readonly is_admin: boolean;
        readonly last_login: string;
        readonly created: string;
        /** 0 a person, 1 an organization */
        readonly type: number;
        readonly active: boolean;
        readonly prohibit_login: boolean;
        readonly location: string;
        readonly website: string;
        readonly description: string;
        readonly orgAdmin: boolean;
        readonly clientOrgUser?: boolean;
      }[];
    };
  };
  /** One user; with everything about them for themselves and for site administrators */
  'GET /users/{username}': {
    input: {
      path: {
        username: Id;
      };
    };
    answer: {
      readonly id: bigint;
      readonly login: string;
      readonly username: string;
      readonly full_name: string;
      readonly email: string;
      readonly avatar_url: string;
      readonly language: string;
      readonly is_admin: boolean;
      readonly last_login: string;
      readonly created: string;
      /** 0 a person, 1 an organization */
      readonly type: number;
      readonly active: boolean;
      readonly prohibit_login: boolean;
      readonly location: string;
      readonly website: string;
      readonly description: string;
      readonly orgAdmin: boolean;
      readonly clientOrgUser?: boolean;
    };
  };
  /** The access tokens of a user */
  'GET /users/{username}/tokens': {
    input: {
      path: {
        username: Id;
      };
      query?: {
        /** Page to show, from 1. */
        page?: Text | undefined;
        /** Entries a page; 30 unless said, at most 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly ({
      readonly id: bigint;
      readonly name: string;
      /** The token itself, shown only when it is made. */
      readonly sha1: string;
      readonly token_last_eight: string;
      readonly scopes: readonly string[];
      readonly created_at: string;
      readonly last_used_at: string;
      /** null for a token that never expires */
      readonly expires_at: string | null;
    })[];
  };
  /** Make an access token; with Basic authentication only */
  'POST /users/{username}/tokens': {
    input: {
      path: {
        username: Id;
      };
      body: {
        readonly name: string;
        readonly scopes?: readonly string[] | undefined;
        readonly expires_at?: string | null | undefined;
      } | RawBody;
    };
    answer: {
      readonly id: bigint;
      readonly name: string;
      /** The token itself, shown only when it is made. */
      readonly sha1: string;
      readonly token_last_eight: string;
      readonly scopes: readonly string[];
      readonly created_at: string;
      readonly last_used_at: string;
      /** null for a token that never expires */
      readonly expires_at: string | null;
    };
  };
  /** Revoke an access token, by id or name */
  'DELETE /users/{username}/tokens/{token}': {
    input: {
      path: {
        username: Id;
        token: Id;
      };
    };
    answer: undefined;
  };
  /** Version of the server */
  'GET /version': {
    input: {
    };
    answer: {
      readonly version: string;
    };
  };
  /** The key that archives are signed with */
  'GET /links/installer.pub': {
    input: {
    };
    answer: undefined;
  };
  /** The archive of a bound installer */
  'GET /links/installer/{ownerID}/{name}/{installerID}/archive.tar.gz': {
    input: {
      path: {
        ownerID: Id;
        name: Id;
        installerID: Id;
      };
      query?: {
        exp?: Text | undefined;
        sig?: Text | undefined;
      };
    };
    answer: undefined;
  };
  /** Marketplace A reports a subscription */
  'POST /marketplace/api/v1/marketplaces/cloudA/notification/resource': {
    input: {
      body: {
        readonly eventType?: string | undefined;
        readonly eventTime?: string | undefined;
        readonly bindingInfo: {
          readonly marketplace?: 'CloudA' | 'CloudB' | 'CloudC' | undefined;
          /** The installer to bind. Keys in here are matched ignoring case. */
          readonly installerId: string;
          /** Required on marketplaces A and C. */
          readonly clusterId?: string | undefined;
          readonly cloudAAccountID?: string | undefined;
          readonly adminUsername?: string | undefined;
          /** Hashed at once and kept nowhere. */
          readonly adminPassword?: string | undefined;
          readonly domainWhiteList?: readonly string[] | undefined;
          readonly options?: {
            readonly [key: string]: unknown;
          } | undefined;
        };
      } | RawBody;
    };
    answer: {
      /** The archive of the installer. */
      readonly link: string;
    };
  };
  /** Marketplace B reports a subscription; only a BIND is answered with a link */
  'POST /marketplace/api/v1/marketplaces/cloudB/notification/resource': {
    input: {
      query?: {
        secret?: Text | undefined;
      };
      body: {
        readonly eventType: 'PUT' | 'DELETE' | 'BIND';
        readonly applicationId: string;
        readonly eventTime?: string | undefined;
        readonly provisioningState?: string | undefined;
        readonly billingDetails?: {
          readonly resourceUsageId?: string | undefined;
        } | undefined;
        readonly plan?: {
          readonly publisher?: string | undefined;
          readonly product?: string | undefined;
          readonly name?: string | undefined;
          readonly version?: string | undefined;
        } | undefined;
        readonly error?: {
          readonly [key: string]: unknown;
        } | undefined;
        readonly bindingInfo?: {
          readonly marketplace?: 'CloudA' | 'CloudB' | 'CloudC' | undefined;
          /** The installer to bind. Keys in here are matched ignoring case. */
          readonly installerId: string;
          /** Required on marketplaces A and C. */
          readonly clusterId?: string | undefined;
          readonly cloudAAccountID?: string | undefined;
          readonly adminUsername?: string | undefined;
          /** Hashed at once and kept nowhere. */
          readonly adminPassword?: string | undefined;
          readonly domainWhiteList?: readonly string[] | undefined;
          readonly options?: {
            readonly [key: string]: unknown;
          } | undefined;
        } | undefined;
      } | RawBody;
    };
    answer: {
      /** The archive of the installer. */
      readonly link: string;
    };
  };
  /** Marketplace C reports a subscription */
  'POST /marketplace/api/v1/marketplaces/cloudC/notification/resource': {
    input: {
      query?: {
        secret?: Text | undefined;
      };
      body: {
        readonly eventType?: string | undefined;
        readonly eventTime?: string | undefined;
        readonly bindingInfo: {
          readonly marketplace?: 'CloudA' | 'CloudB' | 'CloudC' | undefined;
          /** The installer to bind. Keys in here are matched ignoring case. */
          readonly installerId: string;
          /** Required on marketplaces A and C. */
          readonly clusterId?: string | undefined;
          readonly cloudAAccountID?: string | undefined;
          readonly adminUsername?: string | undefined;
          /** Hashed at once and kept nowhere. */
          readonly adminPassword?: string | undefined;
          readonly domainWhiteList?: readonly string[] | undefined;
          readonly options?: {
            readonly [key: string]: unknown;
          } | undefined;
        };
      } | RawBody;
    };
    answer: {
      /** The archive of the installer. */
      readonly link: string;
    };
  };
  /** Whether a standalone organization can be claimed */
  'GET /marketplace/api/v1/marketplaces/standalone-organizations/{claimID}/claimable': {
    input: {
      path: {
        claimID: Id;
      };
    };
    answer: {
      readonly isClaimable: boolean;
      readonly claimID: string;
    };
  };
  /** Version of the server */
  'GET /marketplace/api/v1/version': {
    input: {
    };
    answer: {
      readonly version: string;
    };
  };
}
