import { type EmailBlock, type EmailMessage, oneLine, quotedLines } from './email-message.ts';

/** The text part of an email. Links are on lines of their own, so that every program finds their end. */
export function textPart({ body, reason }: Pick<EmailMessage, 'body' | 'reason'>): string {
  // The line that separates the footer is the usual one of signatures: two dashes and a space.
  return `${[...body.map(textOf), `-- \n${oneLine(reason)}`].join('\n\n')}\n`;
}

function textOf(block: EmailBlock): string {
  if (typeof block === 'string') return oneLine(block);
  if ('link' in block) return `${oneLine(block.label)}:\n\n${block.link}`;
  if ('items' in block) return block.items.map((item) => `  ${oneLine(item)}`).join('\n');
  if ('commands' in block) return block.commands.map((command) => `  ${oneLine(command)}`).join('\n');
  return quotedLines(block.quote)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}
