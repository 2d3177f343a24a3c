import type { AuthzenCaller } from '../authzen/asked-things.ts';
import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { requestName } from '../requests/access-request.ts';
import type { Asked, Asking } from '../requests/asking.ts';
import type { ToolArguments, ToolCaller, ToolCalls } from './tool-calls.ts';

export interface AccessAsker extends AuthzenCaller {
  readonly actor: Actor;
  readonly tokenId: bigint | undefined;
}

/** What became of it: a request that people decide, or an address that the person must open themselves. */
export type AccessOutcome =
  | {
      readonly request: {
        readonly id: string;
        readonly state: string;
        readonly until: Date | null;
        readonly isNew: boolean;
      };
    }
  | { readonly confirmAt: string };

interface Parts {
  readonly asking: Asking;
  readonly calls: Pick<ToolCalls, 'objectIn'>;
  readonly baseUrl: () => string;
}

export type AccessTool = ReturnType<typeof createAccessTool>;

/**
 * The tool that asks for access. A text in a name could make a model ask for what its user does not want, so nothing is
 * granted here that no other person approves: that needs the user in a browser.
 */
export function createAccessTool({ asking, calls, baseUrl }: Parts) {
  return { ask };

  async function ask(asker: AccessAsker, caller: ToolCaller, given: ToolArguments): Promise<AccessOutcome> {
    const object = await calls.objectIn(caller, given);
    if (!object) throw new AppError('notFound', 'it does not exist, or you may not see it');
    const wanted = String(given.relation);
    const relation = wanted.startsWith('can_') ? wanted : `can_${wanted}`;
    const { organization } = asker;
    const form = `${baseUrl()}/orgs/${organization.name}/requests/new?object=${object.type}:${object.id}&relation=${relation}`;
    try {
      const { shown, isNew }: Asked = await asking.ask(
        { ...asker, organizationId: organization.id, organizationName: organization.name },
        {
          ...{ relation, object: { type: object.type, id: object.id, name: undefined }, namespaces: undefined },
          ...{ for: String(given.for), until: undefined, reason: String(given.reason) },
          ...{ remedy: undefined, isBreakGlass: false, needsApproval: true },
        },
      );
      const { id, state, until } = shown.request;
      return { request: { id: requestName(id), state, until, isNew } };
    } catch (error) {
      if (error instanceof AppError && error.detail.reason === 'confirmation_required') return { confirmAt: form };
      throw error;
    }
  }
}
