import { randomBytes } from 'node:crypto';
import { AppError } from '../base/errors.ts';

/** 192 random bits. */
const BYTES = 24;
const SHAPE = /^[\w-]{32}$/;

export function mintInvitationCode(): string {
  return randomBytes(BYTES).toString('base64url');
}

export function isInvitationCode(text: string): boolean {
  return SHAPE.test(text);
}

export function invitationNotFound(): AppError {
  return new AppError('notFound', 'there is no such invitation', { reason: 'invitation_not_found' });
}
