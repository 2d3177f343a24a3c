import { safeUrl } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { journalOf, type Scope } from './server.ts';

/** One measurement a request, and one log line for those that an operator wants to see. */
export function observe(app: Scope, metrics: Metrics): void {
  const logsEvery = app.journal.level === 'debug';
  app.addHook('onResponse', (request, reply, done) => {
    const { method, ip } = request;
    const status = reply.statusCode;
    const ms = reply.elapsedTime;
    metrics.requests.observe(method, request.routeOptions.url ?? 'unknown', status, ms / 1000);
    if (status >= 400 || logsEvery) {
      const level = status >= 500 ? 'error' : status >= 400 ? 'info' : 'debug';
      const user = request.caller?.person.login;
      const line = { method, url: safeUrl(request.url), status, ms: Math.round(ms * 10) / 10, ip, user };
      journalOf(request)[level](line, 'request');
    }
    done();
  });
}
