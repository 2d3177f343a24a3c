import { COUNTS } from '../../counts.ts';

/** A part of the code whose tests are tried. */
export interface Area {
  /** How many changes are tried; if there are fewer, all. */
  readonly count: number;
  readonly sources: readonly string[];
  /** The cheapest tests that are meant to notice a change there. Tests that start processes of their own do not help. */
  readonly tests: readonly string[];
}

export const AREAS: Readonly<Record<string, Area>> = {
  vault: {
    count: COUNTS.mutants,
    sources: ['src/vault/*.ts'],
    tests: ['test/vault/*.test.ts'],
  },
  tokens: {
    count: COUNTS.mutants,
    sources: [
      'src/tokens/*.ts',
      'src/identity/{scopes,callers*,person.rows}.ts',
      'src/identity/tokens/*.ts',
      'src/identity/sessions/{sessions*,session-usage*}.ts',
      'src/http/admission/credential.ts',
    ],
    tests: [
      'test/identity/{token-text,token-request,token-limits,token-issuer,usage,sessions,caller-rules,stores}.test.ts',
      'test/http/credential.test.ts',
      'test/tokens/*.test.ts',
      'test/api/{tokens,robots,factors}/*.test.ts',
      'test/api/users/{account,user-sessions}.test.ts',
      'test/api/scim/scim-scope.test.ts',
      'test/contract/specification.test.ts',
    ],
  },
  authorization: {
    count: COUNTS.sampledMutants,
    sources: [
      'src/authz/*.ts',
      'src/authz/{explain,places}/*.ts',
      'src/remedies/*.ts',
      'src/http/admission/{access,admission,gate,identify}.ts',
    ],
    tests: [
      'test/authz/{graph-cache,graph-moments,graph-store,graphs,judge,owner-store,object-ref,token-reach}.test.ts',
      'test/authz/explanation-text.test.ts',
      'test/api/assignments/*.test.ts',
      'test/http/{admission,caller,gate}.test.ts',
      'test/api/authz/{allowed-single,allowed-batch,escalation,list-objects,owners,query-token}.test.ts',
      'test/api/authz/{explain,explain-agreement,explain-sentences,remedies,remedies-random}.test.ts',
      'test/api/tokens/{token-limits,rotation}.test.ts',
      'test/api/history/time-machine.test.ts',
      'test/api/users/sudo.test.ts',
      'test/api/events/events.test.ts',
      'test/api/factors/sign-in-factor.test.ts',
      'test/contract/specification.test.ts',
    ],
  },
  engine: {
    count: COUNTS.sampledMutants,
    sources: ['packages/rebac/src/*.ts', 'packages/rebac/src/tables/*.ts'],
    tests: ['packages/rebac/test/*.test.ts'],
  },
};
