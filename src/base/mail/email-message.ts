/**
 * One piece of an email. A string is a paragraph. Every text is plain: it can contain what users have typed, because
 * both parts of the email show it as text on one line, whatever is in it.
 */
export type EmailBlock =
  | string
  /** What the recipient is asked to open; `label` says what that does. */
  | { readonly link: string; readonly label: string }
  | { readonly items: readonly string[] }
  /** Commands to type, one on each line. */
  | { readonly commands: readonly string[] }
  /** Text that a user wrote to the recipient. It keeps its lines. */
  | { readonly quote: string };

/** An email is described once. Its text part and its HTML part are both made from this description. */
export interface EmailMessage {
  readonly to: string;
  readonly subject: string;
  readonly body: readonly EmailBlock[];
  /** The footer: why the recipient gets this email, in one or two sentences. */
  readonly reason: string;
}

/** A name can contain any character, but it must not look like another line of the email. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** The lines of a quotation, without characters that change how other text is shown. */
export function quotedLines(text: string): string[] {
  return text
    .trim()
    .split(/\r\n|\r|\n/u)
    .map(oneLine);
}
