import type { SignedTexts } from '../../base/signed-text.ts';
import type { ConfirmationLinks } from './emails.ts';

const DAY_MS = 86_400_000;

/** The link in a confirmation email: signed by us, for one address of one account, valid for a day. */
export function createConfirmationLinks(texts: SignedTexts, baseUrl: () => string): ConfirmationLinks {
  return {
    server: baseUrl,
    make({ id, address }, now) {
      const key = texts.make(`${id} ${address}`, new Date(now.getTime() + DAY_MS));
      return `${baseUrl()}/api/v1/user/emails/confirm?key=${key}`;
    },
    read(text, now) {
      const [id, address] = texts.read(text, now)?.split(' ') ?? [];
      return id !== undefined && address !== undefined ? { id: BigInt(id), address } : undefined;
    },
  };
}
