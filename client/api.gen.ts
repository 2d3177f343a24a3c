// Made by `npm run generate` from openapi/atrium.json.
import type { RawBody } from './raw-body.ts';

export type Id = string | number | bigint;
export type Text = string | number | bigint | boolean;

export type ErrorBody = {
  /** Human-readable description of the error. */
  readonly message: string;
  /** URL of the API documentation. */
  readonly url: string;
  /** Machine-readable reason. A new version may add reasons, but does not rename any. */
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
  /** Get the public keys that hosted tokens are verified with */
  'GET /.well-known/jwks.json': {
    input: {
    };
    answer: {
      readonly keys: readonly {
        readonly [key: string]: unknown;
      }[];
    };
  };
  /** List the audit entries of the whole deployment, newest first */
  'GET /admin/audit': {
    input: {
      query?: {
        /** Who made the change: a login name, or an account ID (also of a deleted account). 0 is the server. */
        actor?: Text | undefined;
        /** What was done, such as role.create. A trailing dot makes it a prefix: role. matches role.create. */
        action?: Text | undefined;
        /** What was changed, such as cluster:7. A type alone, such as cluster, matches all its objects. */
        object?: Text | undefined;
        /** Only entries from this time on (RFC 3339). */
        since?: Text | undefined;
        /** Only entries before this time (RFC 3339). */
        until?: Text | undefined;
        /** The next_cursor of the previous page. */
        cursor?: Text | undefined;
        /** Entries per page: 30 by default, maximum 200. */
        limit?: Text | undefined;
        /** Only entries of this organization: its name, or its ID if it is deleted. 0 is the deployment. */
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
        /** State before or after the change. Null if there is none. */
        readonly before: unknown;
        /** State before or after the change. Null if there is none. */
        readonly after: unknown;
        readonly request_id: string;
        readonly previous_hash: string;
        /** SHA-256, in hexadecimal, of the 32 bytes of previous_hash followed by the UTF-8 text of a JSON array without whitespace: at, organization_id, actor.id, actor.name, action, object.type, object.id, before, after, request_id, previous_hash. All elements are strings: numbers in decimal, before and after exactly as they are in this response, or null. In the first entry of an organization, previous_hash is all zeros. */
        readonly hash: string;
      }[];
      readonly next_cursor: string | null;
    };
  };
  /** Export the audit log of the whole deployment as a stream of JSON lines, oldest first */
  'GET /admin/audit/export': {
    input: {
      query?: {
        /** Who made the change: a login name, or an account ID (also of a deleted account). 0 is the server. */
        actor?: Text | undefined;
        /** What was done, such as role.create. A trailing dot makes it a prefix: role. matches role.create. */
        action?: Text | undefined;
        /** What was changed, such as cluster:7. A type alone, such as cluster, matches all its objects. */
        object?: Text | undefined;
        /** Only entries from this time on (RFC 3339). */
        since?: Text | undefined;
        /** Only entries before this time (RFC 3339). */
        until?: Text | undefined;
        /** Only entries of this organization: its name, or its ID if it is deleted. 0 is the deployment. */
        org?: Text | undefined;
      };
    };
    answer: undefined;
  };
  /** List marketplace deliveries, newest first */
  'GET /admin/marketplace/deliveries': {
    input: {
      query?: {
        /** Only deliveries from this marketplace: CloudA, CloudB or CloudC. */
        marketplace?: Text | undefined;
        /** A state (received, done, refused, dead) or a reason such as bound, superseded, already_bound or unknown_event_type. */
        outcome?: Text | undefined;
        /** Part of the subject, such as an application ID or an installer ID. */
        search?: Text | undefined;
        /** The next_cursor of the previous page. */
        cursor?: Text | undefined;
        /** Entries per page: 30 by default, maximum 200. */
        limit?: Text | undefined;
      };
    };
    answer: {
      readonly items: readonly ({
        readonly id: bigint;
        readonly marketplace: string;
        /** What the delivery is about. Empty if it could not be understood. */
        readonly subject: string;
        readonly event_type: string;
        readonly event_time: string;
        /** One of received, done, refused, dead. Dead means that the server gave up after many attempts. */
        readonly state: string;
        readonly reason: string;
        readonly status: number | null;
        readonly message: string | null;
        readonly source: string;
        readonly request_id: string;
        /** How many times the marketplace sent it. */
        readonly times: number;
        /** How many attempts to process it failed. */
        readonly attempts: number;
        readonly received_at: string;
        readonly last_at: string;
        readonly done_at: string | null;
      })[];
      readonly next_cursor: string | null;
    };
  };
  /** Get a delivery with its notification */
  'GET /admin/marketplace/deliveries/{id}': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: {
      readonly id: bigint;
      readonly marketplace: string;
      /** What the delivery is about. Empty if it could not be understood. */
      readonly subject: string;
      readonly event_type: string;
      readonly event_time: string;
      /** One of received, done, refused, dead. Dead means that the server gave up after many attempts. */
      readonly state: string;
      readonly reason: string;
      readonly status: number | null;
      readonly message: string | null;
      readonly source: string;
      readonly request_id: string;
      /** How many times the marketplace sent it. */
      readonly times: number;
      /** How many attempts to process it failed. */
      readonly attempts: number;
      readonly received_at: string;
      readonly last_at: string;
      readonly done_at: string | null;
      /** Content of the notification, without secrets. Null if it was unreadable or too large to keep. */
      readonly notification: unknown;
    };
  };
  /** Retry an unfinished delivery and return its outcome */
  'POST /admin/marketplace/deliveries/{id}/redeliver': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: {
      readonly id: bigint;
      readonly marketplace: string;
      /** What the delivery is about. Empty if it could not be understood. */
      readonly subject: string;
      readonly event_type: string;
      readonly event_time: string;
      /** One of received, done, refused, dead. Dead means that the server gave up after many attempts. */
      readonly state: string;
      readonly reason: string;
      readonly status: number | null;
      readonly message: string | null;
      readonly source: string;
      readonly request_id: string;
      /** How many times the marketplace sent it. */
      readonly times: number;
      /** How many attempts to process it failed. */
      readonly attempts: number;
      readonly received_at: string;
      readonly last_at: string;
      readonly done_at: string | null;
      /** Content of the notification, without secrets. Null if it was unreadable or too large to keep. */
      readonly notification: unknown;
    };
  };
  /** List all organizations */
  'GET /admin/orgs': {
    input: {
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
  /** List all users, or search them by name or email address */
  'GET /admin/users': {
    input: {
      query?: {
        /** Part of a name. */
        q?: Text | undefined;
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
      /** 0 for a user, 1 for an organization. */
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
  /** Create a user */
  'POST /admin/users': {
    input: {
      body: {
        readonly username: string;
        readonly email: string;
        readonly full_name?: string | undefined;
        /** 8 to 255 characters. A new password ends all sessions of the user. */
        readonly password?: string | undefined;
        /** Whether the user is a site administrator. */
        readonly admin?: boolean | undefined;
        /** If false, all requests of the user are rejected. */
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
      /** 0 for a user, 1 for an organization. */
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
  /** Update a user; omitted fields stay unchanged */
  'PATCH /admin/users/{username}': {
    input: {
      path: {
        username: Id;
      };
      body: {
        /** New primary address. It replaces the current one. */
        readonly email?: string | undefined;
        readonly full_name?: string | undefined;
        /** 8 to 255 characters. A new password ends all sessions of the user. */
        readonly password?: string | undefined;
        readonly description?: string | undefined;
        /** An http or https URL, or empty. */
        readonly website?: string | undefined;
        readonly location?: string | undefined;
        /** Whether the user is a site administrator. */
        readonly admin?: boolean | undefined;
        /** If false, all requests of the user are rejected. */
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
      /** 0 for a user, 1 for an organization. */
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
  /** Delete a user and everything they own */
  'DELETE /admin/users/{username}': {
    input: {
      path: {
        username: Id;
      };
    };
    answer: undefined;
  };
  /** Create an organization for a user, who becomes its owner */
  'POST /admin/users/{username}/orgs': {
    input: {
      path: {
        username: Id;
      };
      body: {
        readonly username: string;
        readonly full_name?: string | undefined;
        readonly description?: string | undefined;
        /** An http or https URL, or empty. */
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
  /** List the permissions that the caller holds on many objects, all as of one moment */
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
  /** List the permissions that the caller holds on an object */
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
  /** Explain why a user holds a relation on an object, or what is missing */
  'GET /authz/objects/{objectType}/{objID}/explain': {
    input: {
      path: {
        objectType: Id;
        objID: Id;
      };
      query: {
        /** Name of the organization. */
        org: Text;
        /** A relation that can be held on the object, such as can_view. */
        relation: Text;
        /** Login name of the user. By default, the caller. */
        user?: Text | undefined;
      };
    };
    answer: {
      readonly objectType: string;
      readonly objectID: bigint;
      readonly relation: string;
      readonly userID: bigint;
      readonly allowed: boolean;
      /** The whole answer as one sentence. */
      readonly sentence: string;
      /** From the object to the user. Each step rests on the deeper ones after it. */
      readonly steps: readonly {
        readonly depth: number;
        readonly object: string;
        readonly relation: string;
        /** Which kind of rule the step applies, such as direct, userset or parent. */
        readonly rule: string;
        /** What the step follows from, such as user:2 or team:4#member, or empty. */
        readonly subject: string;
        /** The step as a sentence. */
        readonly text: string;
      }[];
      /** What would have to change for the answer to be yes. Empty if the caller may not see the object. */
      readonly missing: readonly string[];
    };
  };
  /** List the users who hold a relation on an object */
  'GET /authz/objects/{objectType}/{objID}/principals': {
    input: {
      path: {
        objectType: Id;
        objID: Id;
      };
      query: {
        /** Name of the organization. */
        org: Text;
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
        limit?: Text | undefined;
        /** A relation that can be held on the object, such as can_view. */
        relation: Text;
      };
    };
    answer: readonly {
      readonly type: string;
      readonly id: bigint;
      readonly name: string;
    }[];
  };
  /** List the custom roles of an organization */
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
  /** Create a role */
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
  /** List the permissions that a role can contain */
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
  /** Export all custom roles as one YAML or JSON document */
  'GET /authz/roles/export': {
    input: {
      query: {
        /** Name of the organization. */
        org: Text;
        /** By default, JSON if the Accept header asks for JSON, otherwise YAML. */
        format?: 'yaml' | 'json' | undefined;
      };
    };
    answer: undefined;
  };
  /** Import custom roles from a document, all or nothing, and return what changed */
  'PUT /authz/roles/import': {
    input: {
      query: {
        /** Name of the organization. */
        org: Text;
        /** Change nothing, only return what would change. */
        dry_run?: Text | undefined;
        /** Delete the roles that are not in the document. */
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
      /** Roles that are not in the document and that stay. */
      readonly unmanaged: readonly string[];
      readonly dry_run: boolean;
    };
  };
  /** Preview what creating, updating or deleting a role would change, and for whom */
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
        /** If true, previews deleting the role. Requires id. */
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
  /** Get a role */
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
  /** Update a role; fields in the body replace the current values */
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
  /** List the teams and users that a role is assigned to */
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
  /** Get a cluster */
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
      /** UUID of its kube-system namespace. */
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
      /** Time since creation, such as 43m, 8d or 6mo. */
      readonly age: string;
      readonly status: {
        readonly response: {
          readonly phase: string;
          readonly reason: string;
          readonly message: string;
        };
      };
      readonly hubClusterOwnerName: string;
      /** Time of the last heartbeat. 1970-01-01T00:00:00Z if there was none. */
      readonly heartbeatAt: string;
    };
  };
  /** Update a cluster; omitted fields stay unchanged */
  'PATCH /clusters/{id}': {
    input: {
      path: {
        id: Id;
      };
      body: {
        readonly name?: string | undefined;
        /** UUID of its kube-system namespace. Cannot be changed. */
        readonly uid?: string | undefined;
        readonly displayName?: string | undefined;
        readonly managerID?: bigint | number | undefined;
        readonly externalID?: string | undefined;
        /** Any text, such as AKS, EKS, GKE or Generic. */
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
      /** UUID of its kube-system namespace. */
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
      /** Time since creation, such as 43m, 8d or 6mo. */
      readonly age: string;
      readonly status: {
        readonly response: {
          readonly phase: string;
          readonly reason: string;
          readonly message: string;
        };
      };
      readonly hubClusterOwnerName: string;
      /** Time of the last heartbeat. 1970-01-01T00:00:00Z if there was none. */
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
  /** Report that a cluster is alive; a robot account of its owner may also call this */
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
  /** Get a contract */
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
      /** Null if the contract never ends. */
      readonly end: string | null;
      readonly revoked: boolean;
      /** Amounts by kind, such as {"nodes": 100}. */
      readonly quota: {
        readonly [key: string]: number;
      };
    };
  };
  /** Update or revoke a contract; omitted fields stay unchanged */
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
        /** Amounts by kind, such as {"nodes": 100}. */
        readonly quota?: {
          readonly [key: string]: number;
        } | undefined;
        /** If true, revokes the contract permanently. */
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
      /** Null if the contract never ends. */
      readonly end: string | null;
      readonly revoked: boolean;
      /** Amounts by kind, such as {"nodes": 100}. */
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
  /** List the organizations of the caller, or all for site administrators */
  'GET /orgs': {
    input: {
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
  /** Create an organization; the caller becomes its owner */
  'POST /orgs': {
    input: {
      body: {
        readonly username: string;
        readonly full_name?: string | undefined;
        readonly description?: string | undefined;
        /** An http or https URL, or empty. */
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
  /** Get an organization */
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
  /** Update an organization; omitted fields stay unchanged */
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
        /** An http or https URL, or empty. */
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
  /** Delete an organization and everything it owns */
  'DELETE /orgs/{org}': {
    input: {
      path: {
        org: Id;
      };
    };
    answer: undefined;
  };
  /** List the audit entries of an organization, newest first */
  'GET /orgs/{org}/audit': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Who made the change: a login name, or an account ID (also of a deleted account). 0 is the server. */
        actor?: Text | undefined;
        /** What was done, such as role.create. A trailing dot makes it a prefix: role. matches role.create. */
        action?: Text | undefined;
        /** What was changed, such as cluster:7. A type alone, such as cluster, matches all its objects. */
        object?: Text | undefined;
        /** Only entries from this time on (RFC 3339). */
        since?: Text | undefined;
        /** Only entries before this time (RFC 3339). */
        until?: Text | undefined;
        /** The next_cursor of the previous page. */
        cursor?: Text | undefined;
        /** Entries per page: 30 by default, maximum 200. */
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
        /** State before or after the change. Null if there is none. */
        readonly before: unknown;
        /** State before or after the change. Null if there is none. */
        readonly after: unknown;
        readonly request_id: string;
        readonly previous_hash: string;
        /** SHA-256, in hexadecimal, of the 32 bytes of previous_hash followed by the UTF-8 text of a JSON array without whitespace: at, organization_id, actor.id, actor.name, action, object.type, object.id, before, after, request_id, previous_hash. All elements are strings: numbers in decimal, before and after exactly as they are in this response, or null. In the first entry of an organization, previous_hash is all zeros. */
        readonly hash: string;
      }[];
      readonly next_cursor: string | null;
    };
  };
  /** Export the audit log of an organization as a stream of JSON lines, oldest first */
  'GET /orgs/{org}/audit/export': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Who made the change: a login name, or an account ID (also of a deleted account). 0 is the server. */
        actor?: Text | undefined;
        /** What was done, such as role.create. A trailing dot makes it a prefix: role. matches role.create. */
        action?: Text | undefined;
        /** What was changed, such as cluster:7. A type alone, such as cluster, matches all its objects. */
        object?: Text | undefined;
        /** Only entries from this time on (RFC 3339). */
        since?: Text | undefined;
        /** Only entries before this time (RFC 3339). */
        until?: Text | undefined;
      };
    };
    answer: undefined;
  };
  /** Verify the audit log of an organization: every entry must follow from the previous one */
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
  /** List the clusters of an organization */
  'GET /orgs/{org}/clusters': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
        limit?: Text | undefined;
        /** Only the cluster with exactly this name. */
        name?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly displayName: string;
      readonly name: string;
      /** UUID of its kube-system namespace. */
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
      /** Time since creation, such as 43m, 8d or 6mo. */
      readonly age: string;
      readonly status: {
        readonly response: {
          readonly phase: string;
          readonly reason: string;
          readonly message: string;
        };
      };
      readonly hubClusterOwnerName: string;
      /** Time of the last heartbeat. 1970-01-01T00:00:00Z if there was none. */
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
        /** Any text, such as AKS, EKS, GKE or Generic. */
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
      /** UUID of its kube-system namespace. */
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
      /** Time since creation, such as 43m, 8d or 6mo. */
      readonly age: string;
      readonly status: {
        readonly response: {
          readonly phase: string;
          readonly reason: string;
          readonly message: string;
        };
      };
      readonly hubClusterOwnerName: string;
      /** Time of the last heartbeat. 1970-01-01T00:00:00Z if there was none. */
      readonly heartbeatAt: string;
    };
  };
  /** List the contracts of an organization */
  'GET /orgs/{org}/contracts': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
      /** Null if the contract never ends. */
      readonly end: string | null;
      readonly revoked: boolean;
      /** Amounts by kind, such as {"nodes": 100}. */
      readonly quota: {
        readonly [key: string]: number;
      };
    })[];
  };
  /** Create a contract */
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
        /** Amounts by kind, such as {"nodes": 100}. */
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
      /** Null if the contract never ends. */
      readonly end: string | null;
      readonly revoked: boolean;
      /** Amounts by kind, such as {"nodes": 100}. */
      readonly quota: {
        readonly [key: string]: number;
      };
    };
  };
  /** List the members of an organization */
  'GET /orgs/{org}/members': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
      /** 0 for a user, 1 for an organization. */
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
  /** Check whether a user is a member of an organization: 204 if so, otherwise 404 */
  'GET /orgs/{org}/members/{username}': {
    input: {
      path: {
        org: Id;
        username: Id;
      };
    };
    answer: undefined;
  };
  /** Add a user to an organization, as a member of one of its teams */
  'PUT /orgs/{org}/members/{username}': {
    input: {
      path: {
        org: Id;
        username: Id;
      };
      body: {
        /** Name of the team. By default, Viewers. */
        readonly team?: string | undefined;
      } | RawBody;
    };
    answer: undefined;
  };
  /** Remove a user from all teams of an organization; removing others requires remove_member:org */
  'DELETE /orgs/{org}/members/{username}': {
    input: {
      path: {
        org: Id;
        username: Id;
      };
    };
    answer: undefined;
  };
  /** List the robot accounts of an organization */
  'GET /orgs/{org}/robots': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
  /** Create a robot account */
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
  /** List the teams of an organization */
  'GET /orgs/{org}/teams': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
      /** One of none, read, write, admin or owner. */
      readonly permission: string;
      readonly units: readonly string[];
      readonly type: string;
      readonly role_ids: readonly bigint[];
    }[];
  };
  /** Create a team */
  'POST /orgs/{org}/teams': {
    input: {
      path: {
        org: Id;
      };
      body: {
        readonly name: string;
        readonly description?: string | undefined;
        /** One of none, read, write or admin. Only the built-in Owners team has owner. */
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
      /** One of none, read, write, admin or owner. */
      readonly permission: string;
      readonly units: readonly string[];
      readonly type: string;
      readonly role_ids: readonly bigint[];
    };
  };
  /** Search the teams of an organization by name */
  'GET /orgs/{org}/teams/search': {
    input: {
      path: {
        org: Id;
      };
      query?: {
        q?: Text | undefined;
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
        /** One of none, read, write, admin or owner. */
        readonly permission: string;
        readonly units: readonly string[];
        readonly type: string;
        readonly role_ids: readonly bigint[];
      }[];
    };
  };
  /** Get a robot account */
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
  /** Update a robot account; omitted fields stay unchanged */
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
  /** Delete a robot account and revoke its tokens */
  'DELETE /robots/{id}': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: undefined;
  };
  /** List the access tokens of a robot account */
  'GET /robots/{id}/tokens': {
    input: {
      path: {
        id: Id;
      };
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly ({
      readonly id: bigint;
      readonly name: string;
      /** The token itself, shown only when it is created. */
      readonly sha1: string;
      readonly token_last_eight: string;
      readonly scopes: readonly string[];
      readonly created_at: string;
      readonly last_used_at: string;
      /** Null if the token never expires. */
      readonly expires_at: string | null;
    })[];
  };
  /** Create an access token for a robot account */
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
      /** The token itself, shown only when it is created. */
      readonly sha1: string;
      readonly token_last_eight: string;
      readonly scopes: readonly string[];
      readonly created_at: string;
      readonly last_used_at: string;
      /** Null if the token never expires. */
      readonly expires_at: string | null;
    };
  };
  /** Revoke an access token of a robot account, by ID or name */
  'DELETE /robots/{id}/tokens/{token}': {
    input: {
      path: {
        id: Id;
        token: Id;
      };
    };
    answer: undefined;
  };
  /** Get a team */
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
      /** One of none, read, write, admin or owner. */
      readonly permission: string;
      readonly units: readonly string[];
      readonly type: string;
      readonly role_ids: readonly bigint[];
    };
  };
  /** Update a team; omitted fields stay unchanged */
  'PATCH /teams/{id}': {
    input: {
      path: {
        id: Id;
      };
      body: {
        readonly name?: string | undefined;
        readonly description?: string | undefined;
        /** One of none, read, write or admin. Only the built-in Owners team has owner. */
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
      /** One of none, read, write, admin or owner. */
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
  /** List the members of a team */
  'GET /teams/{id}/members': {
    input: {
      path: {
        id: Id;
      };
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
      /** 0 for a user, 1 for an organization. */
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
  /** Get a member of a team */
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
      /** 0 for a user, 1 for an organization. */
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
  /** Add a user to a team */
  'PUT /teams/{id}/members/{username}': {
    input: {
      path: {
        id: Id;
        username: Id;
      };
    };
    answer: undefined;
  };
  /** Remove a user from a team */
  'DELETE /teams/{id}/members/{username}': {
    input: {
      path: {
        id: Id;
        username: Id;
      };
    };
    answer: undefined;
  };
  /** List the custom roles of a team */
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
  /** Assign a role to a team; requires edit_roles:org */
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
  /** Remove a role from a team; requires edit_roles:org */
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
  /** Get the signed-in user */
  'GET /user': {
    input: {
      query?: {
        /** If "true", clientOrgUser is included. */
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
      /** 0 for a user, 1 for an organization. */
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
  /** Get message bus credentials for the administrative account */
  'GET /user/bus/admin_credentials': {
    input: {
    };
    answer: {
      /** Addresses of the bus: TCP first, then WebSocket. */
      readonly busEndpoints: readonly string[];
      /** Public key of the account. */
      readonly account: string;
      /** Public key of the user. */
      readonly user: string;
      readonly jwt: string;
      /** Secret seed of the user. */
      readonly seed: string;
      /** NATS .creds file, encoded as base64. */
      readonly credentials: string;
    };
  };
  /** List what a cluster reported about its resources */
  'GET /user/bus/cluster-resource-history': {
    input: {
      query: {
        /** UID of the cluster. */
        cluster: Text;
        /** API group. Empty means the core group. */
        group?: Text | undefined;
        /** Kind of resource. */
        resource?: Text | undefined;
        /** ID of the resource. */
        rid?: Text | undefined;
        /** Only reports from this time on (RFC 3339). */
        since?: Text | undefined;
        /** Items per page. The default and maximum is 1000. */
        limit?: Text | undefined;
        /** The cursor of the previous page. */
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
      /** Send it to get the next page. Absent on the last page. */
      readonly cursor?: string;
    };
  };
  /** Get message bus credentials for the caller */
  'GET /user/bus/credentials': {
    input: {
    };
    answer: {
      /** Addresses of the bus: TCP first, then WebSocket. */
      readonly busEndpoints: readonly string[];
      /** NATS .creds file, encoded as base64. */
      readonly credentials: string;
    };
  };
  /** Get message bus credentials for a user */
  'GET /user/bus/user_credentials': {
    input: {
      query?: {
        /** Login name. By default, the caller. */
        user?: Text | undefined;
      };
    };
    answer: {
      /** Addresses of the bus: TCP first, then WebSocket. */
      readonly busEndpoints: readonly string[];
      /** Public key of the account. */
      readonly account: string;
      /** Public key of the user. */
      readonly user: string;
      readonly jwt: string;
      /** Secret seed of the user. */
      readonly seed: string;
      /** NATS .creds file, encoded as base64. */
      readonly credentials: string;
    };
  };
  /** List the buckets that a credential can see */
  'GET /user/clouds/{cloud}/buckets': {
    input: {
      path: {
        /** aws or s3; azure or azureStorage; gcp, gcs or gce. Use s3 for S3-compatible services. */
        cloud: Id;
      };
      query?: {
        /** Name of the cloud credential. Without it, secret_namespace and secret_name are required. */
        credential?: Text | undefined;
        /** Project to list, for clouds whose buckets belong to projects. */
        cloudC_project?: Text | undefined;
        /** UID of the cluster that the request is about. Required. */
        cluster_uid?: Text | undefined;
        /** Namespace of the secret in the cluster. */
        secret_namespace?: Text | undefined;
        /** Name of the secret in the cluster that contains the keys. */
        secret_name?: Text | undefined;
        /** Accepted but ignored: the path names the cloud. */
        provider?: Text | undefined;
      };
      body: {
        /** Name of the cloud credential. Without it, secret_namespace and secret_name are required. */
        readonly credential?: string | undefined;
        /** Project to list, for clouds whose buckets belong to projects. */
        readonly cloudC_project?: string | undefined;
        /** UID of the cluster that the request is about. Required. */
        readonly cluster_uid?: string | undefined;
        /** Namespace of the secret in the cluster. */
        readonly secret_namespace?: string | undefined;
        /** Name of the secret in the cluster that contains the keys. */
        readonly secret_name?: string | undefined;
        /** Accepted but ignored: the path names the cloud. */
        readonly provider?: string | undefined;
      } | RawBody;
    };
    answer: {
      readonly names: readonly string[];
    };
  };
  /** List the buckets that a credential can see, for clients that cannot send a body with GET */
  'POST /user/clouds/{cloud}/buckets': {
    input: {
      path: {
        /** aws or s3; azure or azureStorage; gcp, gcs or gce. Use s3 for S3-compatible services. */
        cloud: Id;
      };
      query?: {
        /** Name of the cloud credential. Without it, secret_namespace and secret_name are required. */
        credential?: Text | undefined;
        /** Project to list, for clouds whose buckets belong to projects. */
        cloudC_project?: Text | undefined;
        /** UID of the cluster that the request is about. Required. */
        cluster_uid?: Text | undefined;
        /** Namespace of the secret in the cluster. */
        secret_namespace?: Text | undefined;
        /** Name of the secret in the cluster that contains the keys. */
        secret_name?: Text | undefined;
        /** Accepted but ignored: the path names the cloud. */
        provider?: Text | undefined;
      };
      body: {
        /** Name of the cloud credential. Without it, secret_namespace and secret_name are required. */
        readonly credential?: string | undefined;
        /** Project to list, for clouds whose buckets belong to projects. */
        readonly cloudC_project?: string | undefined;
        /** UID of the cluster that the request is about. Required. */
        readonly cluster_uid?: string | undefined;
        /** Namespace of the secret in the cluster. */
        readonly secret_namespace?: string | undefined;
        /** Name of the secret in the cluster that contains the keys. */
        readonly secret_name?: string | undefined;
        /** Accepted but ignored: the path names the cloud. */
        readonly provider?: string | undefined;
      } | RawBody;
    };
    answer: {
      readonly names: readonly string[];
    };
  };
  /** List the clusters of the caller */
  'GET /user/clusters': {
    input: {
      query?: {
        /** If "true", lists every cluster that the caller may view. */
        all?: Text | undefined;
      };
    };
    answer: readonly {
      readonly id: bigint;
      readonly displayName: string;
      readonly name: string;
      /** UUID of its kube-system namespace. */
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
      /** Time since creation, such as 43m, 8d or 6mo. */
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
  /** Import a cluster for the caller */
  'POST /user/clusters': {
    input: {
      body: {
        readonly name: string;
        readonly uid: string;
        readonly displayName?: string | undefined;
        readonly managerID?: bigint | number | undefined;
        readonly externalID?: string | undefined;
        /** Any text, such as AKS, EKS, GKE or Generic. */
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
      /** UUID of its kube-system namespace. */
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
      /** Time since creation, such as 43m, 8d or 6mo. */
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
  /** List the cloud credentials of the caller */
  'GET /user/credentials': {
    input: {
      query?: {
        /** Only credentials of these types. Repeat the parameter, or separate types with commas. */
        credential_type?: string | readonly string[] | undefined;
        /** Excludes credentials of management platforms at other addresses. */
        mgmt_endpoint?: Text | undefined;
      };
    };
    answer: readonly {
      readonly name: string;
      readonly creationTimestamp: string;
      readonly [key: string]: unknown;
    }[];
  };
  /** Create a cloud credential */
  'POST /user/credentials': {
    input: {
      body: {
        /** 1 to 100 letters, digits, ".", "_" or "-". Unique among your credentials. */
        readonly name: string;
        readonly [key: string]: unknown;
      } | RawBody;
    };
    answer: undefined;
  };
  /** Replace the credential named in the body */
  'PUT /user/credentials': {
    input: {
      body: {
        /** 1 to 100 letters, digits, ".", "_" or "-". Unique among your credentials. */
        readonly name: string;
        readonly [key: string]: unknown;
      } | RawBody;
    };
    answer: undefined;
  };
  /** Get a cloud credential */
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
  /** Delete a cloud credential */
  'DELETE /user/credentials/{credName}': {
    input: {
      path: {
        credName: Id;
      };
    };
    answer: undefined;
  };
  /** Create an order to deploy charts */
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
  /** Render the Flux manifests of an order as YAML */
  'GET /user/deploy/orders/{id}/render/manifest': {
    input: {
      path: {
        id: Id;
      };
    };
    answer: undefined;
  };
  /** Render the resources of an order, chart by chart */
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
  /** List the email addresses of the caller */
  'GET /user/emails': {
    input: {
    };
    answer: readonly {
      readonly email: string;
      readonly verified: boolean;
      readonly primary: boolean;
    }[];
  };
  /** Add email addresses, all or none */
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
  /** Remove email addresses, all or none */
  'DELETE /user/emails': {
    input: {
      body: {
        readonly emails: readonly string[] | null;
      } | RawBody;
    };
    answer: undefined;
  };
  /** Confirm an email address with the key from the confirmation email */
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
  /** List the followers of the caller, newest first */
  'GET /user/followers': {
    input: {
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
      /** 0 for a user, 1 for an organization. */
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
  /** List the users that the caller follows, newest first */
  'GET /user/following': {
    input: {
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
      /** 0 for a user, 1 for an organization. */
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
  /** Check whether the caller follows a user: 204 if so, otherwise 404 */
  'GET /user/following/{username}': {
    input: {
      path: {
        username: Id;
      };
    };
    answer: undefined;
  };
  /** Follow a user */
  'PUT /user/following/{username}': {
    input: {
      path: {
        username: Id;
      };
    };
    answer: undefined;
  };
  /** Unfollow a user */
  'DELETE /user/following/{username}': {
    input: {
      path: {
        username: Id;
      };
    };
    answer: undefined;
  };
  /** Get a short-lived signed token that identifies the caller */
  'GET /user/hosted-token': {
    input: {
    };
    answer: {
      readonly hostedToken: string;
    };
  };
  /** List the organizations of the caller, in pages */
  'GET /user/orgs': {
    input: {
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
  /** List the organizations of the caller */
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
  /** Sign in: open a browser session */
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
      /** 0 for a user, 1 for an organization. */
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
  /** Sign out: end the browser session */
  'GET /user/signout': {
    input: {
    };
    answer: undefined;
  };
  /** List the teams of the caller; in pages only if page or limit is given */
  'GET /user/teams': {
    input: {
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
      /** One of none, read, write, admin or owner. */
      readonly permission: string;
      readonly units: readonly string[];
      readonly type: string;
      readonly role_ids: readonly bigint[];
    }[];
  };
  /** Check whether an email address can be used */
  'POST /user/validate/email': {
    input: {
      query?: {
        email?: Text | undefined;
      };
    };
    answer: {
      /** One of VALID, USER_EXISTS, RESERVED, INVALID or NOT_ALLOWED. */
      readonly Status: string;
    };
  };
  /** Check whether an organization name is available */
  'POST /user/validate/orgname': {
    input: {
      query?: {
        user_name?: Text | undefined;
        org?: Text | undefined;
      };
    };
    answer: {
      /** One of VALID, USER_EXISTS, RESERVED, INVALID or NOT_ALLOWED. */
      readonly Status: string;
    };
  };
  /** Check whether a username is available */
  'POST /user/validate/username': {
    input: {
      query?: {
        user_name?: Text | undefined;
      };
    };
    answer: {
      /** One of VALID, USER_EXISTS, RESERVED, INVALID or NOT_ALLOWED. */
      readonly Status: string;
    };
  };
  /** Search users by name */
  'GET /users/search': {
    input: {
      query?: {
        /** Part of a name. */
        q?: Text | undefined;
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
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
        /** 0 for a user, 1 for an organization. */
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
  /** Get a user; only the user and site administrators see all fields */
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
      /** 0 for a user, 1 for an organization. */
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
  /** List the access tokens of a user */
  'GET /users/{username}/tokens': {
    input: {
      path: {
        username: Id;
      };
      query?: {
        /** Page number, starting at 1. */
        page?: Text | undefined;
        /** Entries per page: 30 by default, maximum 50. */
        limit?: Text | undefined;
      };
    };
    answer: readonly ({
      readonly id: bigint;
      readonly name: string;
      /** The token itself, shown only when it is created. */
      readonly sha1: string;
      readonly token_last_eight: string;
      readonly scopes: readonly string[];
      readonly created_at: string;
      readonly last_used_at: string;
      /** Null if the token never expires. */
      readonly expires_at: string | null;
    })[];
  };
  /** Create an access token; requires Basic authentication */
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
      /** The token itself, shown only when it is created. */
      readonly sha1: string;
      readonly token_last_eight: string;
      readonly scopes: readonly string[];
      readonly created_at: string;
      readonly last_used_at: string;
      /** Null if the token never expires. */
      readonly expires_at: string | null;
    };
  };
  /** Revoke an access token, by ID or name */
  'DELETE /users/{username}/tokens/{token}': {
    input: {
      path: {
        username: Id;
        token: Id;
      };
    };
    answer: undefined;
  };
  /** Get the server version */
  'GET /version': {
    input: {
    };
    answer: {
      readonly version: string;
    };
  };
  /** Get the public key that archive signatures are verified with */
  'GET /links/installer.pub': {
    input: {
    };
    answer: undefined;
  };
  /** Download the archive of a bound installer */
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
  /** Receive a notification from marketplace A */
  'POST /marketplace/api/v1/marketplaces/cloudA/notification/resource': {
    input: {
      body: {
        readonly eventType?: string | undefined;
        readonly eventTime?: string | undefined;
        readonly bindingInfo: {
          readonly marketplace?: 'CloudA' | 'CloudB' | 'CloudC' | undefined;
          /** The installer to bind. Keys of this object are case-insensitive. */
          readonly installerId: string;
          /** Required for marketplaces A and C. */
          readonly clusterId?: string | undefined;
          readonly cloudAAccountID?: string | undefined;
          readonly adminUsername?: string | undefined;
          /** Hashed immediately. The password itself is not stored. */
          readonly adminPassword?: string | undefined;
          readonly domainWhiteList?: readonly string[] | undefined;
          readonly options?: {
            readonly [key: string]: unknown;
          } | undefined;
        };
      } | RawBody;
    };
    answer: {
      /** URL of the installer archive. */
      readonly link: string;
    };
  };
  /** Receive a notification from marketplace B; only a BIND returns a link */
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
          /** The installer to bind. Keys of this object are case-insensitive. */
          readonly installerId: string;
          /** Required for marketplaces A and C. */
          readonly clusterId?: string | undefined;
          readonly cloudAAccountID?: string | undefined;
          readonly adminUsername?: string | undefined;
          /** Hashed immediately. The password itself is not stored. */
          readonly adminPassword?: string | undefined;
          readonly domainWhiteList?: readonly string[] | undefined;
          readonly options?: {
            readonly [key: string]: unknown;
          } | undefined;
        } | undefined;
      } | RawBody;
    };
    answer: {
      /** URL of the installer archive. */
      readonly link: string;
    };
  };
  /** Receive a notification from marketplace C */
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
          /** The installer to bind. Keys of this object are case-insensitive. */
          readonly installerId: string;
          /** Required for marketplaces A and C. */
          readonly clusterId?: string | undefined;
          readonly cloudAAccountID?: string | undefined;
          readonly adminUsername?: string | undefined;
          /** Hashed immediately. The password itself is not stored. */
          readonly adminPassword?: string | undefined;
          readonly domainWhiteList?: readonly string[] | undefined;
          readonly options?: {
            readonly [key: string]: unknown;
          } | undefined;
        };
      } | RawBody;
    };
    answer: {
      /** URL of the installer archive. */
      readonly link: string;
    };
  };
  /** Check whether a standalone organization can be claimed */
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
  /** Get the server version */
  'GET /marketplace/api/v1/version': {
    input: {
    };
    answer: {
      readonly version: string;
    };
  };
}
