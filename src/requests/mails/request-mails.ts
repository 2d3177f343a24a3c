import type { EmailMessage } from '../../base/mail/email-message.ts';
import type { Mailer } from '../../base/mail/mailer.ts';
import type { BackgroundWork } from '../../base/scheduling/background-work.ts';
import { type AccessRequest, MAX_NAMED, requestName } from '../access-request.ts';

export interface RequestMailStore {
  /** Those with a confirmed address who have had no email about this requester and object for ten minutes. */
  claim(request: AccessRequest, userIds: readonly bigint[]): Promise<readonly string[]>;
  /** The confirmed address of a user. */
  addresses(userIds: readonly bigint[]): Promise<readonly string[]>;
  /** Who owns the organization. */
  owners(organizationId: bigint): Promise<readonly bigint[]>;
}

export interface RequestMails {
  asked(request: AccessRequest, approvers: readonly bigint[]): void;
  decided(request: AccessRequest): void;
  brokeGlass(request: AccessRequest): void;
}

/**
 * Emails about access requests, after what they are about has been committed. No caller waits for them. They have one
 * line for each field, and no link in them decides anything.
 */
export function createRequestMails(
  store: RequestMailStore,
  mailer: Mailer,
  baseUrl: () => string,
  background: Pick<BackgroundWork, 'start'>,
): RequestMails {
  return { asked, decided, brokeGlass };

  function asked(request: AccessRequest, approvers: readonly bigint[]): void {
    const subject = `${request.by.name} asks for access to ${oneLine(request.object.name)}`;
    later(async () => {
      const to = await store.claim(request, approvers.slice(0, MAX_NAMED));
      await send(
        to,
        subject,
        'You can decide about an access request:',
        request,
        'This email was sent because you could make the change yourself.',
      );
    });
  }

  function decided(request: AccessRequest): void {
    if (request.by.type !== 'user') return;
    const subject = `Your request for ${oneLine(request.object.name)}: ${request.state}`;
    const first = `Your access request is ${request.state}:`;
    later(
      async () =>
        await send(
          await store.addresses([request.by.id]),
          subject,
          first,
          request,
          'This email was sent because you asked for it.',
        ),
    );
  }

  function brokeGlass(request: AccessRequest): void {
    const subject = `${request.by.name} broke the glass for ${oneLine(request.object.name)}`;
    later(async () => {
      const owners = await store.owners(request.organizationId);
      const first = 'A user took access immediately, without an approval. An owner must acknowledge it:';
      await send(
        await store.addresses(owners),
        subject,
        first,
        request,
        'This email was sent because you own the organization.',
      );
    });
  }

  async function send(
    to: readonly string[],
    subject: string,
    first: string,
    request: AccessRequest,
    reason: string,
  ): Promise<void> {
    const body = bodyOf(first, request);
    for (const address of to) {
      await mailer.send({ to: address, subject: `[${request.organizationName}] ${subject}`, body, reason });
    }
  }

  function bodyOf(first: string, request: AccessRequest): EmailMessage['body'] {
    const { by, relation, object, namespaces, reason, until, organizationName, id } = request;
    const items = [
      `Organization: ${organizationName}`,
      `Who: ${oneLine(by.name)}`,
      `What: ${relation} on ${object.type} ${oneLine(object.name)}`,
      ...(namespaces ? [`Namespaces: ${namespaces.join(', ')}`] : []),
      `Until: ${until?.toISOString() ?? 'no end'}`,
      `Why: ${oneLine(reason)}`,
    ];
    const link = `${baseUrl()}/orgs/${encodeURIComponent(organizationName)}/requests/${requestName(id)}`;
    return [first, { items }, { label: 'Show the request', link }];
  }

  function later(work: () => Promise<void>): void {
    background.start(work);
  }
}

/** A reason is any text, but it must neither look like another line of the email nor become a link. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').replaceAll('://', ': //');
}
