import { escapeHtml } from '../escape-html.ts';
import { type EmailBlock, type EmailMessage, oneLine, quotedLines } from './email-message.ts';

// Programs that ignore style sheets show the light colors, which are in the attributes. The style sheet has only what a
// dark screen needs, and wins over the attributes with "!important".
const STYLE = `
  :root { color-scheme: light dark; supported-color-schemes: light dark; }
  @media (prefers-color-scheme: dark) {
    .page { background: #14171f !important; color: #ece8df !important; }
    .card { background: #1b1f2a !important; border-color: #2c3240 !important; }
    .soft, .soft a { color: #a7adba !important; }
    .plain { background: #14171f !important; border-color: #2c3240 !important; }
    .button { background: #e58a5e !important; color: #14171f !important; }
    a { color: #e58a5e; }
  }`;

const FONT = "font: 16px/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;";
const WRAP = 'overflow-wrap: anywhere; word-break: break-word;';
const PLAIN = `margin: 0 0 16px; padding: 8px 12px; background: #f6f4ef; border: 1px solid #e3ded3; border-radius: 4px; ${WRAP}`;

/**
 * The HTML part of an email: one document without images, scripts, style sheets or fonts of other servers, so that
 * opening it tells no server anything.
 */
export function htmlPart({ subject, body, reason }: Pick<EmailMessage, 'subject' | 'body' | 'reason'>): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${shown(subject)}</title>
<style>${STYLE}
</style>
</head>
<body class="page" style="margin: 0; padding: 24px 12px; background: #f6f4ef; color: #1d2433; ${FONT}">
<div class="card" style="max-width: 560px; margin: 0 auto; padding: 24px; background: #ffffff; border: 1px solid #e3ded3; border-radius: 8px;">
<h1 style="margin: 0 0 16px; font-size: 20px; line-height: 1.3; ${WRAP}">${shown(subject)}</h1>
${body.map(htmlOf).join('\n')}
</div>
<p class="soft" style="max-width: 560px; margin: 16px auto 0; padding: 0 24px; color: #5b657a; font-size: 13px; ${WRAP}">${shown(reason)}</p>
</body>
</html>
`;
}

function htmlOf(block: EmailBlock): string {
  if (typeof block === 'string') return `<p style="margin: 0 0 16px; ${WRAP}">${shown(block)}</p>`;
  if ('link' in block) return linkOf(block);
  if ('items' in block) return listOf(block.items);
  if ('commands' in block)
    return `<pre class="plain" style="${PLAIN} white-space: pre-wrap;">${lines(block.commands)}</pre>`;
  return `<blockquote class="plain" style="${PLAIN}">${quotedLines(block.quote).map(escapeHtml).join('<br>\n')}</blockquote>`;
}

/** The address is also shown as text: some programs do not open links, and some people check an address first. */
function linkOf({ link, label }: { readonly link: string; readonly label: string }): string {
  const address = escapeHtml(link);
  return `<p style="margin: 0 0 16px;"><a class="button" href="${address}" style="display: inline-block; padding: 10px 18px; background: #a24420; color: #ffffff; border-radius: 6px; font-weight: 600; text-decoration: none;">${shown(label)}</a></p>
<p class="soft" style="margin: 0 0 16px; color: #5b657a; font-size: 13px; ${WRAP}">Or open this address: <a href="${address}" style="color: #5b657a;">${address}</a></p>`;
}

function listOf(items: readonly string[]): string {
  const entries = items.map((item) => `<li style="margin: 0 0 4px; ${WRAP}">${shown(item)}</li>`);
  return `<ul style="margin: 0 0 16px; padding: 0 0 0 20px;">\n${entries.join('\n')}\n</ul>`;
}

function lines(commands: readonly string[]): string {
  return commands.map(shown).join('\n');
}

function shown(text: string): string {
  return escapeHtml(oneLine(text));
}
