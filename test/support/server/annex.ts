import { AppError } from '../../../src/base/errors.ts';
import { createLog } from '../../../src/base/log.ts';
import { createMetrics } from '../../../src/base/metrics.ts';
import { createAdmission } from '../../../src/http/admission/admission.ts';
import { createGate } from '../../../src/http/admission/gate.ts';
import { createRouteBook } from '../../../src/http/admission/route-book.ts';
import { platformFormat, sendError } from '../../../src/http/error-format.ts';
import { createBrake } from '../../../src/http/limits/brake.ts';
import { createBudget } from '../../../src/http/limits/budget.ts';
import { createServer, type Scope } from '../../../src/http/server.ts';
import { openTestServer, type TestServer } from './server.ts';

export interface Annex {
  readonly atrium: TestServer;
  /** The server with the test's own routes. */
  readonly app: Scope;
  close(): Promise<void>;
}

/** A small server with the test's own routes, behind the real admission and next to a real instance. */
export async function openAnnex(
  mount: (scope: Scope) => void,
  { queryTokens = true, budgetMs = 5000 } = {},
): Promise<Annex> {
  const atrium = await openTestServer();
  const { callers } = atrium.instance.identity;
  const format = platformFormat(() => `${atrium.url}/api/v1/docs`);
  const app = createServer({
    log: createLog('error', { write: () => undefined }),
    trustedProxies: [],
    isHttps: () => false,
    watch: () => undefined,
    reject: (error, request, reply) => void sendError(format, error, request, reply),
    word: (_path, message) => format.body(new AppError('invalid', message), ''),
  });
  const admission = createAdmission({
    callers,
    relations: {
      require: async () => undefined,
      requireOn: async () => 0n,
      noteMember: () => undefined,
      ownerOf: async () => undefined,
    },
    tokenUsage: { note: () => undefined },
    sessionUsage: { note: () => undefined },
    brake: createBrake(20),
    queryTokens,
    secondFactors: atrium.instance.identity.secondFactors,
    provenMs: 900_000,
  });
  const durations = createMetrics(() => 0).requests.of('annex');
  createRouteBook(
    app,
    ({ access }) => createGate(access, admission(access), () => undefined, durations),
    createBudget(budgetMs),
  );
  app.setErrorHandler((error, request, reply) => sendError(format, error, request, reply));
  mount(app);
  return {
    atrium,
    app,
    async close() {
      await app.close();
      await atrium.close();
    },
  };
}
